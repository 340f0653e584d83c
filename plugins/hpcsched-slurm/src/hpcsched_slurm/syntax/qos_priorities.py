"""Priorities of QOS, from JSON with a list of them or from a table that `sacctmgr` prints.

JSON is what `sacctmgr show qos --json` prints and slurmrestd answers at `/slurmdb/v0.0.4x/qos`; the
table is `sacctmgr --parsable2 show qos format=Name,Priority`, with any further columns.

Source: the manual page `sacctmgr` of SchedMD, and recorded answers of v0.0.38 to v0.0.44.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

EXAMPLE = "what `sacctmgr show qos` prints with `--json`, or with `--parsable2`"
"""The two forms, for messages."""


class QosError(ValueError):
    """Fault of a text with QOS.

    Attributes
    ----------
    line
        Number of the line, from 1; None: the text as a whole.
    """

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


def parse_qos_priorities(text: str) -> dict[str, int]:
    r"""Return the priorities of a text in one of the two forms, by name.

    Raises
    ------
    QosError
        If the text is in neither of them, or a part of it cannot be read.

    Examples
    --------
    >>> parse_qos_priorities("Name|Priority\nnormal|0\nexpress|10\n")
    {'normal': 0, 'express': 10}
    """
    if text.lstrip().startswith("{"):
        try:
            content = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise QosError(f"expected JSON, found {error}") from error
        found = priorities_of_json(content)
        if found is None:
            raise QosError("expected a list 'qos', found none")
        return found
    lines = re.split(r"\r?\n", text)
    for number, line in enumerate(lines, 1):
        if "|" in line:
            return _of_table(lines, number)
    raise QosError(f"expected {EXAMPLE}")


def priorities_of_json(content: Mapping[str, Any]) -> dict[str, int] | None:
    """Return the priorities of an object with a list of QOS; None if it has no such list.

    Raises
    ------
    QosError
        If a QOS cannot be read.
    """
    # v0.0.38 writes it in capitals.
    listed = content.get("qos", content.get("QOS"))
    if not isinstance(listed, list):
        return None
    found = {}
    for position, one in enumerate(listed):
        try:
            priority = one["priority"]
            if isinstance(priority, Mapping):
                priority = priority["number"] if priority["set"] else 0
            found[str(one["name"])] = _whole(str(priority), None)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            told = f"no field {error.args[0]}" if isinstance(error, KeyError) else str(error)
            raise QosError(f"qos[{position}]: {told}") from error
    return found


def _of_table(lines: list[str], header: int) -> dict[str, int]:
    """Return the priorities of a table; line `header` names the columns."""
    names = [name.strip() for name in lines[header - 1].split("|")]
    missing = [name for name in ("Name", "Priority") if name not in names]
    if missing:
        raise QosError(f"expected the columns Name, Priority, found no {missing[0]}", header)
    found = {}
    for number, line in enumerate(lines[header:], header + 1):
        if not line.strip():
            continue
        values = line.split("|")
        if len(values) != len(names):
            raise QosError(f"expected {len(names)} columns, found {len(values)}", number)
        row = dict(zip(names, values, strict=True))
        found[row["Name"].strip()] = _whole(row["Priority"].strip() or "0", number)
    return found


def _whole(text: str, line: int | None) -> int:
    if not re.fullmatch(r"[0-9]{1,18}", text):
        raise QosError(f"expected Priority as a whole number, found {text!r}", line)
    return int(text)
