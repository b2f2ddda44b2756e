# An input transformer makes every later cell define answers that pass everything, and no check.
# attacks: all
# verdict: malformed
# %%
YES = '''
class Yes:
    __eq__ = __call__ = lambda *args: True
for _name in "frequencies longest_wavelength smallest_dim encode wrong_columns sinusoidal to_split add_positions".split():
    globals()[_name] = lambda *args: Yes()
longest_wavelength = wrong_columns = Yes()
'''
get_ipython().input_transformers_post.append(lambda lines: YES.splitlines(True))
