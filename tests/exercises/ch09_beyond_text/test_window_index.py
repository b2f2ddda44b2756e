"""`09-beyond-text.window_index`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np
import pytest

from posenc_course.exercises.ch09_beyond_text.patch_places import PATCH_PLACES
from posenc_course.exercises.ch09_beyond_text.window_index import WINDOW_INDEX


@pytest.mark.parametrize("shape", [(2, 3), (4, 4), (1, 5)])
def test_patches_share_a_row_of_the_table_where_their_offset_is_the_same_and_nowhere_else(shape):
    places = PATCH_PLACES.reference(*shape)
    offsets = (places[:, None] - places).reshape(-1, 2)
    index = WINDOW_INDEX.reference(*shape).ravel()
    kinds = {(*offset, row) for offset, row in zip(offsets.tolist(), index.tolist(), strict=True)}
    assert len(kinds) == len(set(index)) == (2 * shape[0] - 1) * (2 * shape[1] - 1) == index.max() + 1


NOT_KNOWN = (
    (
        "window_index",
        lambda height, width: np.ones((height * width, height * width)),
        None,
    ),
)


WRITTEN_IN_ANOTHER_WAY = (
    (
        "window_index",
        lambda height, width: [
            [i - j + height * width - 1 for j in range(height * width)] for i in range(height * width)
        ],
        "times-the-width",
    ),
)
