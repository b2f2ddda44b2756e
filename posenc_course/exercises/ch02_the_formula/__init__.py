"""The exercises of `02-the-formula`, in their order: each is a file of its name."""

from posenc_course.exercises.exercise import in_order

EXERCISES = in_order(
    __name__,
    "frequencies",
    "longest_wavelength",
    "smallest_dim",
    "encode",
    "sinusoidal",
    "to_split",
    "wrong_columns",
    "bug_lines",
    "layout_of",
    "formula_of",
    "row_of_sum",
    "table_from_row_one",
    "distances",
    "worst_pair",
    "encode_times",
    "forecast",
    "embed",
    "add_positions",
)
