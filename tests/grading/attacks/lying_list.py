# A list of columns that lies about its length and its elements.
# attacks: wrong_columns
# verdict: wrong
# %% wrong_columns
class Columns(list):
    __eq__ = lambda self, other: True
    __len__ = lambda self: 2


wrong_columns = Columns([0])
