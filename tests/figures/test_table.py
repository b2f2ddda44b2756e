"""A table says in HTML and in plain columns what it was given."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from posenc_course.figures.table import Table


def test_each_cell_is_where_its_head_says():
    table = Table("Losses <in> nats", ["encoding", "loss"], [["RoPE & co", "1.35"], ["none", "2.09"]])
    figure = ET.fromstring(table._repr_html_())
    assert figure.findtext(".//caption") == "Losses <in> nats"
    assert [each.text for each in figure.findall(".//thead/tr/th[@scope='col']")] == ["encoding", "loss"]
    rows = figure.findall(".//tbody/tr")
    assert [[cell.text for cell in row] for row in rows] == [["RoPE & co", "1.35"], ["none", "2.09"]]
    assert all(row[0].get("scope") == "row" for row in rows)
    assert str(table).splitlines() == [
        "Losses <in> nats",
        "encoding   loss",
        "RoPE & co  1.35",
        "none       2.09",
    ]


def test_a_row_of_another_length_is_refused():
    with pytest.raises(ValueError, match=r"the row \['a'\] has 1 cells; the head has 2"):
        Table("Losses", ["encoding", "loss"], [["a"]])
