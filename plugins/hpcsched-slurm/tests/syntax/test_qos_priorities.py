"""Priorities of QOS, as `sacctmgr` prints them and slurmrestd answers."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from hpcsched_slurm.syntax.associations import QosError, parse_qos_priorities

EXPECTED = {"normal": 0, "fast": 5, "express": 10}


def number(value: int, *, given: bool = True) -> dict[str, Any]:
    """Return a number as v0.0.41 and later have it."""
    return {"set": given, "infinite": False, "number": value}


def texts() -> Iterator[str]:
    """Yield the same priorities in each form."""
    yield "Name|Priority\nnormal|0\nfast|5\nexpress|10\n"
    yield "Name|Flags|Priority\nnormal||\nfast|DenyOnLimit|5\nexpress||10\n"
    old = [{"name": name, "priority": priority} for name, priority in EXPECTED.items()]
    yield json.dumps({"QOS": old})  # Slurm 22.05
    new = [
        {"name": "normal", "priority": number(0, given=False)},
        {"name": "fast", "priority": number(5)},
        {"name": "express", "priority": number(10)},
    ]
    yield json.dumps({"meta": {}, "qos": new})


@pytest.mark.parametrize("text", list(texts()))
def test_forms(text: str) -> None:
    """Each form tells the same."""
    assert parse_qos_priorities(text) == EXPECTED


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ("", "expected what `sacctmgr show qos` prints", None),
        ("Name|Flags\nnormal|\n", "expected the columns Name, Priority, found no Priority", 1),
        ("Name|Priority\nnormal\n", "expected 2 columns, found 1", 2),
        ("Name|Priority\nnormal|high\n", "expected Priority as a whole number, found 'high'", 2),
        ("{", "expected JSON, found", None),
        ("{}", "expected a list 'qos', found none", None),
        ('{"qos": [{"name": "a"}]}', r"qos\[0\]: no field priority", None),
        ('{"qos": [7]}', r"qos\[0\]: ", None),
    ],
)
def test_damaged_texts(text: str, message: str, line: int | None) -> None:
    """The message has the line where there is one."""
    with pytest.raises(QosError, match=message) as caught:
        parse_qos_priorities(text)
    assert caught.value.line == line
