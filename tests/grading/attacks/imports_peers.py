# Packages of others that hold the same formulas.
# attacks: frequencies
# without walls: breaks
# %%
import importlib.util

breached = False
for name in ("nbgrader", "rotary_embedding_torch", "x_transformers", "transformers", "timm", "diffusers"):
    found = importlib.util.find_spec(name)
    breached |= bool(found and found.origin)
