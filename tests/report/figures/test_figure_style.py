"""Colours of dispatchers."""

import re

from hpcsched.report.figures.figure_style import colours_of, lighter, looks


def test_further_configurations_of_a_dispatcher() -> None:
    """Each has a colour of its own while there are enough; of more, lines and tints differ."""
    three = looks({"a": "easy", "b": "list", "c": "easy"})
    assert three["a"].colour == colours_of(["easy"])["easy"]
    assert three["b"].colour == colours_of(["list"])["list"]
    assert len({look.colour for look in three.values()}) == 3
    assert three["c"].fill == three["c"].colour
    assert three["a"].dash != three["c"].dash
    six = looks(dict.fromkeys("abcdef", "easy")).values()
    assert len({look.colour for look in six}) == 6
    twelve = [*dict.fromkeys("abcdef", "easy").items(), *dict.fromkeys("ghijkl", "list").items()]
    by_name = looks(dict(twelve))
    for names in ("abcdef", "ghijkl"):
        same = [by_name[name] for name in names]
        assert len({look.colour for look in same}) == 1
        assert len({look.fill for look in same}) == len({str(look.dash) for look in same}) == 6


def test_a_dispatcher_has_one_colour_everywhere() -> None:
    """The first run of a dispatcher has it, whatever else is drawn."""
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
