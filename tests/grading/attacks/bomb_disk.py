# Files until the disk is full.
# attacks: frequencies
# limits: file_bytes=1048576
# %%
written = 0
try:
    for number in range(100):
        with open(f"file-{number}", "wb") as file:
            written += file.write(bytes(2**20))
except OSError:
    pass
breached = written > 20 * 2**20
