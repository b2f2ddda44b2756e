# Every way to more rights: user ids, programs that run as root, new user namespaces.
# attacks: frequencies
# %%
import os
import subprocess

breached = False
for call in (os.setuid, os.setgid, os.seteuid):
    try:
        call(0)
        breached = True
    except OSError:
        pass
for command in ("su -c id", "sudo -n id", "unshare -Ur id", "unshare -rm id", "pkexec id", "newgrp root -c id", "bwrap --bind / / id"):
    found = subprocess.run(command, shell=True, capture_output=True, text=True, stdin=subprocess.DEVNULL).stdout
    breached |= "uid=0" in found
