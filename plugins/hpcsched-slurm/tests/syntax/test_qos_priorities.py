"""Priorities of QOS, as `sacctmgr` prints them."""

import pytest

from hpcsched_slurm.syntax.associations import TableError, parse_qos


def test_other_columns() -> None:
    """They may stand between; an empty priority is 0."""
    text = "Name|Flags|Priority\nnormal||\nfast|DenyOnLimit|5\nexpress||10\n"
    found = {name: one.priority for name, one in parse_qos(text).items()}
    assert found == {"normal": 0, "fast": 5, "express": 10}


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ("", "expected what `sacctmgr --parsable2 show qos` prints", None),
        ("Name|Flags\nnormal|\n", "expected the columns Name, Priority, found no Priority", 1),
        ("Name|Priority\nnormal\n", "expected 2 columns, found 1", 2),
        ("Name|Priority\nnormal|high\n", "expected Priority as a whole number, found 'high'", 2),
    ],
)
def test_damaged_texts(text: str, message: str, line: int | None) -> None:
    """The message has the line where there is one."""
    with pytest.raises(TableError, match=message) as caught:
        parse_qos(text)
    assert caught.value.line == line
