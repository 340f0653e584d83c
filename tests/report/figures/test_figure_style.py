"""Colours of dispatchers."""

from hpcsched.report.figures.chart_parts import PALETTE, looks


def test_a_well_known_dispatcher_has_one_colour_everywhere() -> None:
    """Its first configuration has it, whatever else is drawn."""
    assert looks({"c": "easy"})["c"].colour == PALETTE["blue"]
    many = looks({str(k): str(k) for k in range(30)} | {"e": "easy"})
    assert len(many) == 31
    assert many["e"].colour == PALETTE["blue"]


def test_other_configurations() -> None:
    """Each has a colour of its own while there are enough; of more, lines differ."""
    three = looks({"a": "easy", "b": "list", "c": "easy"})
    assert [three[name].colour for name in "ab"] == [PALETTE["blue"], PALETTE["grey"]]
    assert len({look.colour for look in three.values()}) == 3
    assert len({look.colour for look in looks(dict.fromkeys("abcdef", "easy")).values()}) == 6
    twelve = looks(dict.fromkeys("abcdefghijkl", "of a plugin")).values()
    assert len({(look.colour, look.style) for look in twelve}) == 12
