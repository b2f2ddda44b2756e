# A file planted in the course, in the library, or where the next learner's Python starts.
# attacks: frequencies
# %%
import os
import site
import sys
import sysconfig

breached = False
folders = [outside["course"], outside["library"], outside["posenc_course"], "/library", "/library/posenc_lib", "/library/posenc_course", "/cell", "/", "/etc", "/dev", "/proc", "/usr/lib"]
folders += [each for each in sys.path if os.path.isdir(each)] + [sysconfig.get_path("stdlib"), np.__path__[0]]
for folder in folders:
    try:
        with open(folder + "/sitecustomize.py", "w") as file:
            file.write("import os")
        breached = True
    except OSError:
        pass
