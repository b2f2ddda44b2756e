# An input transformer blanks every cell that comes after it, checks too.
# attacks: all
# verdict: unwritten
# %%
get_ipython().input_transformers_cleanup.append(lambda lines: [])
