# An input transformer makes every later cell define answers that pass everything, and no check.
# attacks: all
# verdict: malformed
# %%
YES = '''
class Yes:
    __eq__ = __call__ = lambda *args: True
for _name in ("frequencies smallest_dim encode sinusoidal to_split layout_of formula_of row_of_sum table_from_row_one "
    "distances worst_pair encode_times forecast embed add_positions").split():
    globals()[_name] = lambda *args: Yes()
longest_wavelength = wrong_columns = bug_lines = Yes()
'''
get_ipython().input_transformers_post.append(lambda lines: YES.splitlines(True))
