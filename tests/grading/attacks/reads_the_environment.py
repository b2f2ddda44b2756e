# Secrets of whoever started the grader.
# attacks: frequencies
# %%
import os
import subprocess

seen = str(os.environ) + subprocess.run("env; export; set", shell=True, capture_output=True, text=True).stdout
breached = outside["secret"] in seen or "POSENC" in seen or outside["root"] in seen
