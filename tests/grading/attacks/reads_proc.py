# /proc shows command lines, environments and memory maps of every process.
# attacks: frequencies
# without walls: breaks
# %%
import glob

breached = False
for name in ("environ", "cmdline", "maps", "root/etc/passwd"):
    for path in glob.glob(f"/proc/[0-9]*/{name}") + glob.glob(f"/proc/self/{name}"):
        try:
            with open(path, "rb") as file:
                breached |= bool(file.read(1))
        except OSError:
            pass
