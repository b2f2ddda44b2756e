# The gradebook, by every way that leads to it.
# attacks: frequencies
# without walls: breaks
# %%
import os

breached = False
for start in ("", "/proc/1/root", "/proc/self/root", "/proc/self/cwd/..", "../../../../../..", "/cell", "/oldroot", "/newroot"):
    for name in ("course", "root", "library"):
        for rest in ("/gradebook.db", "/course/gradebook.db", "/__init__.py", "/solutions"):
            breached |= os.path.exists(start + outside[name] + rest)
