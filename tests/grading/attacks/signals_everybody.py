# Signals to the parent, to the grader, and to everybody at once.
# attacks: frequencies
# %%
import os
import signal

breached = False
for pid in (outside["pid"], os.getppid() or 2, 2, 3, 4, 5):
    try:
        os.kill(pid, signal.SIGTERM)
        breached = True
    except OSError:
        pass
for everybody in (os.kill, os.killpg):
    try:
        everybody(-1 if everybody is os.kill else 1, 0)
        breached |= everybody is os.kill
    except OSError:
        pass
