"""The exercises of `08-long-context`, in their order: each is a file of its name."""

from posenc_course.exercises.exercise import in_order

EXERCISES = in_order(
    __name__,
    "new_arc",
    "llama3_rates",
    "query_scale",
    "grouped_distances",
    "mapped_scores",
    "chunk_distances",
    "largest_offsets",
    "kept_positions",
    "moved_keys",
    "effective_length",
    "layers_that_turn",
)
