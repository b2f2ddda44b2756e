# Output on the bare descriptors, where no limit counts it: it goes nowhere.
# attacks: frequencies
# %%
import os

for _ in range(2000):
    os.write(1, b"spam" * 10_000)
    os.write(2, b"spam" * 10_000)
breached = False
