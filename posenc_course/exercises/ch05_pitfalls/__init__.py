"""The exercises of `05-pitfalls`, in their order: each is a file of its name."""

from posenc_course.exercises.exercise import in_order

EXERCISES = in_order(
    __name__,
    "honest_loss",
    "how_far_ahead",
    "adds_along_the_tokens",
    "padding_fault",
    "positions_from_mask",
    "padded_weights",
    "padded_attention",
    "positions_in_text",
    "may_look",
    "targets_that_count",
    "seen",
    "attend_cached",
    "cached_step",
    "diagnose",
    "what_was_rounded",
    "half_table",
    "serve",
    "two_checkpoints",
    "broken_lines",
)
