# NaN and Infinity, which are no JSON, in places where numbers belong.
# attacks: frequencies, encode, sinusoidal, to_split, longest_wavelength
# verdict: wrong
# others: any
# %%
import itertools
import posenc_course.grading.sandbox.learner as learner

odd = itertools.cycle([float("nan"), float("inf"), [float("nan")] * 2, {"complex": [float("nan"), float("-inf")]}])
learner.encode = lambda value: next(odd)
