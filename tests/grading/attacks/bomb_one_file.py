# One file beyond all bounds.
# attacks: frequencies
# limits: file_bytes=1048576
# %%
breached = False
for folder in ("/tmp", "/dev/shm"):
    try:
        with open(f"{folder}/big", "wb") as file:
            file.truncate(2**40)
        breached = True
    except OSError:
        pass
