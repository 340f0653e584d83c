"""Colours of dispatchers."""

import re

from hpcsched.report.figures.figure_style import colours_of, lighter, looks


def test_a_dispatcher_has_one_colour_everywhere() -> None:
    """It does not depend on what else is drawn; configurations that share it differ otherwise."""
    everything = looks({"a": "easy", "b": "list", "c": "easy"})
    assert everything["a"].colour == everything["c"].colour == colours_of(["easy"])["easy"]
    assert everything["a"].dash != everything["c"].dash
    assert everything["a"].fill == everything["a"].colour != everything["c"].fill
    six = looks(dict.fromkeys("abcdef", "easy")).values()
    assert len({look.fill for look in six}) == len({str(look.dash) for look in six}) == 6
    assert looks({"c": "easy"})["c"].colour == colours_of(["easy"])["easy"]
    seen = ["easy", "of-a-plugin", "prb", "conservative", "of-another", "slack"]
    colours = colours_of(seen)
    assert len(set(colours.values())) == len(seen)
    assert all(re.fullmatch("#[0-9A-F]{6}", colour) for colour in colours.values())
    many = colours_of([*map(str, range(30)), "easy"])
    assert len(many) == 31
    assert many["easy"] == colours["easy"]


def test_mixed_with_white() -> None:
    """Halfway from 0 to 255 is 128, rounded."""
    assert lighter("#0072B2", 0) == "#0072B2"
    assert lighter("#000080", 0.5) == "#8080C0"
    assert lighter("#0072B2", 1) == "#FFFFFF"
