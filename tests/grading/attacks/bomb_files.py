# Empty files by the hundred thousand: each costs the kernel memory, and none fills a disk.
# attacks: frequencies
# %%
import os

made = 0
try:
    for folder in ("/tmp", "/dev/shm"):
        for number in range(40_000):
            os.close(os.open(f"{folder}/empty-{number}", os.O_CREAT))
            made += 1
except OSError:
    pass
breached = made >= 40_000
