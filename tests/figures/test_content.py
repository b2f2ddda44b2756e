"""The pictures of chapter 10: what they draw has the properties that the page and the alt texts claim."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from posenc_course.experiments import LONG, NAMES
from posenc_course.figures import content

ROOT = Path(__file__).resolve().parents[2]


def test_the_ruler_of_words_multiplies_the_gates_in_between():
    read = content.distances("a b . c")["read"]
    word, stop = content.OF_WORDS, content.OF_STOPS
    assert np.exp(-read) == pytest.approx([word * stop * word, stop * word, word, 1])


def test_a_ball_is_where_its_swaps_have_brought_it():
    assert content.ball_under(["ball: right", "swap: left, right", "cough", "swap: middle, left"]) == [
        2,
        0,
        0,
        1,
    ]
    assert content.ball_under(["ball: middle", "swap: left, right"]) == [1, 1]
    assert content.cups().alt.endswith("after “swap: middle, right”: right.")


def test_the_scores_of_one_word_fall_as_their_alt_text_says():
    scores = {name: each.mean(axis=0) for name, each in content.score_by_distance().items()}
    assert all(each[0] == pytest.approx(8) for each in scores.values())
    assert abs(scores["PaTH"][100:].mean()) < 0.2
    assert scores["RoPE"][100:1000].mean() > 1.5
    assert scores["FoX"][100] == pytest.approx(8 + 100 * np.log(0.95))


def test_the_weight_of_the_nearest_is_that_of_a_softmax():
    scores = np.log(np.array([[1.0, 2.0, 1.0, 4.0, 100.0]]))
    assert content.weight_near(scores, 4, near=2) == pytest.approx(3 / 8)
    assert content.weight_near(scores, 2, near=2) == pytest.approx(1)


def test_the_crests_of_rope_move_with_the_word_and_those_of_pope_do_not():
    assert [each.argmax() for each in content.rope_terms().values()] == [0, 5, 15]
    assert {each.argmax() for each in content.pope_terms().values()} == {5}
    assert "dog 0, cat 5, it 15" in content.what_and_where().alt


def test_two_of_the_family_know_the_offset_alone():
    assert "Those of RoPE and ALiBi are the same along each diagonal" in content.one_family(12).alt
    assert not content.knows_offset_alone(np.array([[1.0, 0], [2, 3]]))


def test_each_leaf_rests_on_a_stored_run_or_on_a_paper():
    papers = set(re.findall(r"@\w+\{(\w+),", (ROOT / "book" / "references.bib").read_text(encoding="utf-8")))
    names = [leaf.name for leaf in content.leaves()]
    assert len(names) == len(set(names))
    for leaf in content.leaves():
        assert bool(leaf.experiment) != bool(leaf.literature)
        assert leaf.experiment in NAMES | LONG or leaf.literature in papers
        assert leaf.sign == ("●" if leaf.experiment else "○")


def test_the_tree_tells_every_question_answer_and_leaf_in_words():
    told = content.tree().alt
    for leaf in content.leaves():
        assert f": {leaf.advice}]" in told
    assert told.count("[") == told.count("]") > len(list(content.leaves()))


def test_a_leaf_without_its_sentence_is_refused():
    sentences = {leaf.name: "so" for leaf in content.leaves()}
    assert len(content.leaves_table(sentences).rows) == len(sentences)
    del sentences["bag"]
    with pytest.raises(ValueError, match=r"the leaves are bag, .*; give one sentence for each"):
        content.leaves_table(sentences)
