# The same from a shell, which needs no Python to reach a port.
# attacks: frequencies
# without walls: breaks
# %%
import subprocess

command = f"exec 5<>/dev/tcp/127.0.0.1/{outside['port']} && timeout 2 cat <&5"
breached = outside["secret"] in subprocess.run(["bash", "-c", command], capture_output=True, text=True).stdout
