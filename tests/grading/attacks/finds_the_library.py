# Files of the library, its compiled files, its wheel or its checkout, anywhere that Python looks.
# attacks: frequencies
# without walls: breaks
# %%
import glob
import sys

breached = False
for top in (*sys.path, sys.prefix, outside["root"], "/site", "/library", "/usr/lib/python3", "/usr/local", "/usr/share"):
    for place in ("", "*/", "*/*/"):
        for name in ("posenc_course/exercises/*", "posenc_course/checking/judge*", "posenc_lib/added/*", "posenc_lib/angles.*", "posenc*.whl"):
            breached |= bool(glob.glob(f"{top}/{place}{name}"))
