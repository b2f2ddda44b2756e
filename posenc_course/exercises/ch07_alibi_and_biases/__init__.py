"""The exercises of `07-alibi-and-biases`, in their order: each is a file of its name."""

from posenc_course.exercises.exercise import in_order

EXERCISES = in_order(
    __name__,
    "relative_shift",
    "xl_scores",
    "bucket_starts",
    "t5_bucket",
    "reach",
    "slope_of",
    "alibi_slopes",
    "alibi_bias",
    "symmetry_seen",
    "kerple_bias",
    "fire_shares",
    "fire_bias",
    "cope_counts",
    "cope_bias",
    "without_bias",
    "difference",
    "normed",
    "think",
    "turned",
    "attend",
    "look",
    "decode",
    "write",
)
