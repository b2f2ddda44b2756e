"""The exercises of `06-rotary`, in their order: each is a file of its name."""

from posenc_course.exercises.exercise import in_order

EXERCISES = in_order(
    __name__,
    "turn_pair",
    "apply_rotary",
    "is_relative",
    "aimed_query",
    "to_half",
    "convert_layer",
    "checkpoint_facts",
    "rotate_heads",
    "rotary_attention",
    "what_was_rounded",
    "stretched_base",
    "pair_that_turns",
    "yarn_frequencies",
    "yarn_rotate",
    "broken_rotations",
)
