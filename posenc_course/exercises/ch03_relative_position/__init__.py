"""The exercises of `03-relative-position`, in their order: each is a file of its name."""

from posenc_course.exercises.exercise import in_order

EXERCISES = in_order(
    __name__,
    "shift_rows",
    "doublings",
    "shift_by",
    "extend_table",
    "three_products",
    "possible_distances",
    "first_doubt",
    "symmetries",
    "four_terms",
    "key_of_next",
    "one_back",
    "split_heads",
    "multi_head",
    "note_before",
    "match",
    "continue_text",
)
