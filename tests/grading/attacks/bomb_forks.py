# Processes that make processes.
# attacks: frequencies
# limits: processes=40
# %%
import os
import time

made, breached = 0, False
while made < 300:
    try:
        if os.fork() == 0:
            time.sleep(100)
            os._exit(0)
        made += 1
    except OSError:
        break
breached = made >= 300
