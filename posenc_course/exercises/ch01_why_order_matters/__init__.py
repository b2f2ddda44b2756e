"""The exercises of `01-why-order-matters`, in their order: each is a file of its name."""

from posenc_course.exercises.exercise import in_order

EXERCISES = in_order(
    __name__,
    "winning_margin",
    "saturating_width",
    "same_bag",
    "restore_rows",
    "noticed",
    "softmax",
    "causal_weights",
    "attention",
    "find_the_bug",
    "distinct_rows",
    "changed_rows",
    "positions_from_mean",
    "symmetry_left",
)
