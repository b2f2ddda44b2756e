# Symbolic links out of the scratch folder, and files opened through the descriptors of folders.
# attacks: frequencies
# without walls: breaks
# %%
import os

breached = False
for number, target in enumerate((outside["course"], outside["root"], "/proc/self/fd", "/proc/1/cwd", "/../..")):
    os.symlink(target, f"link-{number}")
    for name in ("gradebook.db", "solutions", "Makefile", "3/../gradebook.db"):
        breached |= os.path.exists(f"link-{number}/{name}")
for number in range(3, 256):
    try:
        breached |= bool(os.listdir(number))
    except OSError:
        pass
