# The limit on output is taken off from within, and every cell prints as much as it can.
# attacks: frequencies
# limits: output_bytes=20000
# others: any
# %%
get_ipython().outputs.left = 10**15
print("spam" * 125_000)
breached = False
# %%
get_ipython().outputs.left = 10**15
print("spam" * 125_000)
# %%
get_ipython().outputs.left = 10**15
print("spam" * 125_000)
# %%
get_ipython().outputs.left = 10**15
print("spam" * 125_000)
