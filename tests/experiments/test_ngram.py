"""The n-gram that a model has to beat: by hand, beside a plain one, and what every probability has to be."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from posenc_course.experiments.ngram import NGram


def plain(text: bytes, n: int, context: bytes, byte: int) -> float:
    """The definition, word for word, with a dictionary's worth of searching."""
    if n == 0:
        return 1 / 256
    context = context[len(context) - n + 1 :] if n > 1 else b""
    shorter = plain(text, n - 1, context[1:], byte)
    after = [text[i + len(context)] for i in range(len(text) - len(context)) if text[i:].startswith(context)]
    if not after:
        return shorter
    kinds = len(set(after))
    return (after.count(byte) + kinds * shorter) / (len(after) + kinds)


def test_by_hand():
    """abab: a and b twice each; a is always followed by b, b once by a."""
    a, b = b"ab"
    one, two, three = (NGram(b"abab", n) for n in (1, 2, 3))
    p1 = (2 + 2 / 256) / (4 + 2)
    assert one.after(b"")[a] == pytest.approx(p1)
    assert one.after(b"")[ord("z")] == pytest.approx((2 / 256) / 6)
    assert two.after(b"a")[b] == pytest.approx((2 + p1) / (2 + 1))
    assert two.after(b"b")[b] == pytest.approx((0 + p1) / (1 + 1))
    assert two.after(b"z")[a] == pytest.approx(p1)  # never seen: the shorter context decides
    assert three.after(b"ba")[b] == pytest.approx((1 + (2 + p1) / 3) / (1 + 1))
    assert three.losses(b"ab").tolist() == pytest.approx([-math.log(p1), -math.log((2 + p1) / 3)])


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_it_is_the_plain_one(n):
    random.seed(n)
    text, unseen = (bytes(random.choices(b"abc \xff\x00", k=k)) for k in (120, 60))
    model = NGram(text, n)
    found = model.losses(unseen)
    for i, byte in enumerate(unseen):
        context = unseen[max(0, i - n + 1) : i]
        wanted = plain(text, len(context) + 1, context, byte)
        assert math.exp(-found[i]) == pytest.approx(wanted)
        assert model.after(unseen[:i])[byte] == pytest.approx(wanted)


@pytest.mark.parametrize("n", [1, 4, 8])
def test_the_probabilities_of_all_bytes_sum_to_one(n):
    text = b"import math\nprint(math.pi)\n" * 3
    model = NGram(text, n)
    for context in (b"", b"i", b"print(", b"\x00\x01\x02", text):
        assert model.after(context).sum() == pytest.approx(1)
        assert (model.after(context) > 0).all()


def test_a_text_of_no_bytes_makes_every_byte_as_likely():
    assert np.exp(-NGram(b"", 3).losses(b"xyz")) == pytest.approx(1 / 256)


def test_an_order_that_does_not_fit_into_a_number_is_refused():
    for n in (0, 9):
        with pytest.raises(ValueError, match=f"n={n}; give 1 to 8"):
            NGram(b"abc", n)
