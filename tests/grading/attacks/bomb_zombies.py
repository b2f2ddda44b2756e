# Processes that end and are never waited for.
# attacks: frequencies
# limits: processes=40
# %%
import os

made = 0
while made < 300:
    try:
        if os.fork() == 0:
            os._exit(0)
        made += 1
    except OSError:
        break
breached = made >= 300
