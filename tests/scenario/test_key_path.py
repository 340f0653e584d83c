"""Key paths are written and read the same way."""

import pytest

from hpcsched.scenario.key_path import KeyPath, parse_key_path, show_key_path


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ((), ""),
        (("name",), "name"),
        (("system", "groups", 0, "count"), "system.groups[0].count"),
        (("a", 1, 2, "b-c"), "a[1][2].b-c"),
        (("a", "b c\n"), 'a."b c\\n"'),
    ],
)
def test_show(path: KeyPath, text: str) -> None:
    """A key path is shown on one line, with odd keys quoted."""
    assert show_key_path(path) == text


def test_parse() -> None:
    """Positions are read in brackets; between dots they stay texts."""
    assert parse_key_path("system.groups[0].count") == ("system", "groups", 0, "count")
    assert parse_key_path("system.groups.0.count") == ("system", "groups", "0", "count")
    assert parse_key_path('system.groups."fat.1".count') == ("system", "groups", "fat.1", "count")


@pytest.mark.parametrize("text", ["", ".a", "a..b", "a.", "a[x]", "[0]", "a[0", "a]", "a.[0]"])
def test_malformed(text: str) -> None:
    """What is no key path raises ValueError."""
    with pytest.raises(ValueError, match="key path"):
        parse_key_path(text)
