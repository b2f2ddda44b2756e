# Packages of others that hold the same formulas.
# attacks: frequencies
# without walls: breaks
# %%
import importlib.util
import os

breached = False
for name in ("rotary_embedding_torch", "x_transformers", "transformers", "timm", "diffusers", "nbgrader"):
    found = importlib.util.find_spec(name)
    folders = found.submodule_search_locations if found else []
    breached |= any(len(os.listdir(folder)) > 1 for folder in folders)  # More than the note that it is hidden.
try:
    import rotary_embedding_torch

    breached = True
except ImportError:
    pass
