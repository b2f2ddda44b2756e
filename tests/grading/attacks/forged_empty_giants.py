# Arrays that are empty in one way and huge in another, texts that would make all others as long as they are.
# attacks: all
# verdict: malformed
# %%
import itertools
import posenc_course.grading.sandbox.learner as learner


def empty(*shape):
    return {"array": "", "dtype": "<f8", "shape": list(shape)}


giants = itertools.cycle(
    [
        empty(0, 10**9),
        empty(10**9, 0),
        empty(10**5, 10**5, 0),
        [empty(0, 2**19)] * 3,
        empty(*[1] * 40, 0),
        {"tuple": [empty(0, 10**8)] * 2},
        {"dict": {"x" * 10**5: 1.0}},
        10**4000,
        [[]] * 140_000,
        ["x" * 1001],
    ]
)
learner.encode = lambda value: next(giants)
