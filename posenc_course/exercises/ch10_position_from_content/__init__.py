"""The exercises of `10-position-from-content`, in their order: each is a file of its name."""

from posenc_course.exercises.exercise import in_order

EXERCISES = in_order(
    __name__,
    "log_gates",
    "forget_bias",
    "gated_attention",
    "gated_step",
    "alibi_logits",
    "keys_seen",
    "reflections",
    "path_scores",
    "path_step",
    "favourite_offsets",
    "polar_scores",
    "table_scores",
    "fading_state",
    "delta_state",
    "cache_numbers",
    "generator",
    "one_step",
    "group_scores",
    "where_from",
    "choose",
)
