# A lock on a file that everybody reads holds for everybody, inside the walls and outside.
# attacks: frequencies
# %%
import fcntl
import os

breached = False
kept = [open(path) for path in (os.__file__, "/bin/sh", np.__file__)]
for file in kept:
    for lock in (
        lambda: fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB),
        lambda: fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB),
        lambda: fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK),
    ):
        try:
            lock()
            breached = True
        except OSError:
            pass
