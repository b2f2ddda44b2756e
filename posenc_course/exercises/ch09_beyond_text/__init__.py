"""The exercises of `09-beyond-text`, in their order: each is a file of its name."""

from posenc_course.exercises.exercise import in_order

EXERCISES = in_order(
    __name__,
    "moves_kept",
    "patch_places",
    "grid_encoding",
    "resized_table",
    "window_index",
    "three_positions",
    "dealt_pairs",
    "calendar_circles",
    "known_by_then",
    "log_distance_bases",
    "both_strands",
    "point_waves",
    "seen_frequency",
    "distance_bumps",
    "signed_volume",
    "graph_laplacian",
    "graph_waves",
    "heat_between",
    "return_chances",
    "expression_parents",
    "step_paths",
    "heard_samples",
    "feels_the_edge",
)
