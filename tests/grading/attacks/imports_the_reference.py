# The reference under other names and by other ways.
# attacks: frequencies
# without walls: breaks
# %%
import importlib
import importlib.util
import runpy
import sys
import zipimport

breached = False
names = ["posenc_lib", "posenc_lib.angles", "posenc_course", "posenc_course.exercises", "posenc_course.exercises.ch02_the_formula.frequencies"]
files = [f"{outside['library']}/angles.py", f"{outside['posenc_course']}/exercises/ch02_the_formula/frequencies.py"]


def by_path(path):
    sys.path.insert(0, outside["root"])
    for name in [each for each in sys.modules if each.startswith("posenc_")]:
        if "sandbox" not in name and "checking" not in name:
            del sys.modules[name]
    return runpy.run_path(path)


ways = [(importlib.import_module, names), (__import__, names), (by_path, files), (zipimport.zipimporter, files)]
for way, things in ways:
    for thing in things:
        try:
            module = way(thing)
            module = module if isinstance(module, dict) else vars(module)
            found = module.get("frequencies") or module["FREQUENCIES"].reference
            breached |= len(found(8)) == 4
        except BaseException:
            pass
