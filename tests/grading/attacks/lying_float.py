# A float that equals everything.
# attacks: longest_wavelength
# verdict: wrong
# %% longest_wavelength
class Agreeable(float):
    __eq__ = __lt__ = __le__ = __gt__ = __ge__ = lambda self, other: True
    __sub__ = __rsub__ = lambda self, other: 0.0
    __hash__ = float.__hash__


longest_wavelength = Agreeable(1)
