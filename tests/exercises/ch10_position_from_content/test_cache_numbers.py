"""`10-position-from-content.cache_numbers`: its reference, and answers that no list foresaw."""

from __future__ import annotations

from posenc_course.checking import judge, run
from posenc_course.exercises.ch10_position_from_content.cache_numbers import CACHE_NUMBERS
from tests.exercises.ch10_position_from_content.shared import right


def test_a_latent_layer_of_deepseek_keeps_576_numbers_for_a_token():
    """kv_lora_rank and qk_rope_head_dim of DeepSeek-V3's configuration; the text says the number."""
    layer = {"kind": "latent", "rank": 512, "rope_dim": 64}
    assert right(CACHE_NUMBERS, [layer] * 61, 1000) == 61 * 576 * 1000


def test_whole_numbers_are_told_in_full():
    report = judge(CACHE_NUMBERS, run(lambda layers, tokens: 123_456_789, CACHE_NUMBERS.cases()))
    assert "It returned 123456789, but " in str(report)
    assert "e+" not in str(report)


NOT_KNOWN = (
    ("cache_numbers", lambda layers, tokens: 3 * right(CACHE_NUMBERS, layers, tokens), None),
    ("cache_numbers", lambda layers, tokens: right(CACHE_NUMBERS, layers[::2], tokens), None),
)


WRITTEN_IN_ANOTHER_WAY = (
    ("cache_numbers", lambda layers, tokens: right(CACHE_NUMBERS, layers * 2, tokens), "bytes"),
    (
        "cache_numbers",
        lambda layers, tokens: next(right(CACHE_NUMBERS, [layer], tokens) for layer in layers),
        "first-layer-alone",
    ),
)
