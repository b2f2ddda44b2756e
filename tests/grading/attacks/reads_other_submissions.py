# What another learner handed in, found by looking everywhere for notebooks.
# attacks: frequencies
# %%
import os

breached = False
for top in ("/tmp", "/home", "/root", "/srv", "/var", "/mnt", "/media", "/opt", "/run", "/dev", "/cell", outside["course"], outside["root"]):
    for folder, _, files in os.walk(top):
        breached |= any(name.endswith((".ipynb", ".db", ".sqlite")) for name in files)
