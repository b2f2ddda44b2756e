"""The exercises of `04-extrapolation`, in their order: each is a file of its name."""

from posenc_course.exercises.exercise import in_order

EXERCISES = in_order(
    __name__,
    "which_claim",
    "stretch",
    "past_the_end",
    "closed_table",
    "bigram_losses",
    "admitted",
    "token_losses",
    "loss_by_position",
    "early_share",
    "blocks_and_sliding",
    "far_gap",
    "forgets",
    "verdict",
)
