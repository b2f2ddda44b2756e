# Limits on time, memory and files are taken off.
# attacks: frequencies
# %%
import resource

breached = False
for which in (resource.RLIMIT_CPU, resource.RLIMIT_DATA, resource.RLIMIT_FSIZE, resource.RLIMIT_NPROC, resource.RLIMIT_NOFILE):
    try:
        resource.setrlimit(which, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        breached = True
    except (OSError, ValueError):
        pass
