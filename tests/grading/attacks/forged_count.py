# The learner's side says that there are a million answers, or none, or not even a number.
# attacks: all
# verdict: unwritten
# %%
import itertools
import posenc_course.grading.sandbox.learner as learner

counts = itertools.cycle([1.0, 0.0, 2.0, 10**6, -1, "two", [1, 2], None, 10**400, 1.5, True and {}])
learner.Learner._find = lambda self, name, exercise: next(counts)
