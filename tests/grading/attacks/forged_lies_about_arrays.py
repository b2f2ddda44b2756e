# Arrays whose heads lie about what follows: sizes below zero, beyond any memory, of no known type.
# attacks: all
# verdict: malformed
# %%
import itertools
import posenc_course.grading.sandbox.learner as learner

lies = itertools.cycle(
    {"array": data, "dtype": dtype, "shape": shape}
    for data, dtype, shape in (
        ("AAAA", "<f8", [10**9, 10**9]),
        ("", "<f8", [0, 10**30]),
        ("", "<f8", [-1]),
        ("AAAAAAAAAAA=", "|O8", [1]),
        ("AAAAAAAAAAA=", "<f99", [1]),
        ("AAAAAAAAAAA=", "99999999f8", [1]),
        ("AAAAAAAAAAA=", "<f8", [10**400]),
        ("AAAAAAAAAAA=", "<f8", [[1]]),
        ("AAAAAAAAAAA=", ["<f8"], "1"),
        ("=" * 100, "<f8", [1]),
        ({"array": 1}, None, {}),
    )
)
learner.encode = lambda value: next(lies)
