# IPython's own `run_cell` is replaced: cells are reported as done, and never run.
# attacks: all
# verdict: unwritten
# %%
class Done:
    success = True


get_ipython().run_cell = lambda *args, **kwargs: Done()
