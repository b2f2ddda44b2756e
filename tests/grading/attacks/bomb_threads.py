# Threads without end.
# attacks: frequencies
# limits: processes=40
# %%
import threading
import time

made = 0
while made < 300:
    try:
        threading.Thread(target=time.sleep, args=(100,), daemon=True).start()
        made += 1
    except RuntimeError:
        break
breached = made >= 300
