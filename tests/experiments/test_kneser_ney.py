"""Modified Kneser-Ney: beside the definition, and what every probability has to be."""

from __future__ import annotations

import math
import random
from collections import Counter

import numpy as np
import pytest

from posenc_course.experiments.kneser_ney import KneserNey
from posenc_course.experiments.ngram import NGram


def _grams(text: bytes, k: int) -> list[bytes]:
    return [text[i : i + k] for i in range(len(text) - k + 1)]


def _counts(text: bytes, k: int, longest: bool) -> Counter:
    """How often each k-gram came; below the longest order, after how many different bytes."""
    return Counter(_grams(text, k)) if longest else Counter(each[1:] for each in set(_grams(text, k + 1)))


def _discounts(counts: Counter) -> list[float]:
    n1, n2, n3, n4 = (max(1, sum(each == times for each in counts.values())) for times in (1, 2, 3, 4))
    y = n1 / (n1 + 2 * n2)
    found = [1 - 2 * y * n2 / n1, 2 - 3 * y * n3 / n2, 3 - 4 * y * n4 / n3]
    return [min(max(each, 0.01), k + 0.99) for k, each in enumerate(found)]


def plain(text: bytes, n: int, context: bytes, byte: int, longest: bool = True) -> float:
    """Chen and Goodman's equations, word for word, with dictionaries."""
    if n == 0:
        return 1 / 256
    h = context[max(0, len(context) - n + 1) :] if n > 1 else b""
    if len(h) < n - 1:
        return plain(text, len(h) + 1, h, byte, longest=False)
    shorter = plain(text, n - 1, h[1:], byte, longest=False)
    counts = _counts(text, n, longest)
    own = {gram: count for gram, count in counts.items() if gram[:-1] == h}
    if not own:
        return shorter
    off = [0.0, *_discounts(counts)]
    left = sum(off[min(count, 3)] for count in own.values())
    count = own.get(h + bytes([byte]), 0)
    return (max(count - off[min(count, 3)], 0) + left * shorter) / sum(own.values())


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_it_is_the_definition(n):
    random.seed(n)
    text, unseen = (bytes(random.choices(b"aab \xff\x00", k=k)) for k in (150, 50))
    model = KneserNey(text, n)
    found = model.losses(unseen)
    for i, byte in enumerate(unseen):
        assert math.exp(-found[n - 1, i]) == pytest.approx(plain(text, n, unseen[:i], byte))
        assert model.after(unseen[:i], n)[byte] == pytest.approx(plain(text, n, unseen[:i], byte))


@pytest.mark.parametrize("tuned", [False, True])
@pytest.mark.parametrize("n", [1, 4, 8])
def test_the_probabilities_of_all_bytes_sum_to_one(n, tuned):
    text = b"import math\nprint(math.pi)\n" * 3
    model = KneserNey(text)
    if tuned:
        model.tune([b"import sys\nprint(sys.argv)\n"])
    for context in (b"", b"i", b"print(", b"\x00\x01\x02", text):
        assert model.after(context, n).sum() == pytest.approx(1)
        assert (model.after(context, n) > 0).all()


def test_tuned_discounts_are_better_on_what_they_were_tuned_on():
    random.seed(0)
    text, other = (bytes(random.choices(b"abcd", [8, 4, 2, 1], k=k)) for k in (3000, 1000))
    model = KneserNey(text)
    before = model.losses(other).mean(axis=1)
    model.tune([other[:500], other[500:]])
    after = np.concatenate([model.losses(other[:500]), model.losses(other[500:])], axis=1).mean(axis=1)
    assert after[-1] < before[-1]


def test_it_is_better_than_witten_bell_as_its_source_found():
    """Chen and Goodman 1999, figure 5: on every size of text."""
    from posenc_course.experiments import source_text

    text = source_text.split()
    counted, unseen = source_text.joined(text.learn, 200_000), text.held_out[0].content
    losses = KneserNey(counted).losses(unseen)
    for n in (3, 5, 8):
        assert losses[n - 1].mean() < NGram(counted, n).losses(unseen).mean()


def test_an_order_that_does_not_fit_is_refused():
    for n in (0, 9):
        with pytest.raises(ValueError, match=f"longest={n}; give 1 to 8"):
            KneserNey(b"abcdefghij", n)
    with pytest.raises(ValueError, match="the text has 2 bytes; give at least longest=3 bytes"):
        KneserNey(b"ab", 3)
    with pytest.raises(ValueError, match="n=4; give 1 to 3"):
        KneserNey(b"abcdef", 3).after(b"a", 4)
