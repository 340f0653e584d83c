"""A good scenario, and the many ways to spoil it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from hpcsched.scenario.faults import faults_of
from hpcsched.scenario.key_path import show_key_path

GOOD = """\
name: small
seed: 1
system:
  groups:
    - name: node
      count: 4
      resources: {core: 8, mem: 16GiB}
trace:
  source: synthetic
  length: 30min
dispatcher:
  name: list
  order: fcfs
  depth: 3
"""


@dataclass(frozen=True)
class Bad:
    """One fault: `old` becomes `new`, and the finding that must come of it."""

    old: str
    new: str
    line: int
    column: int
    rule: str
    key: str
    message: str

    @property
    def text(self) -> str:
        """The spoilt scenario."""
        assert GOOD.count(self.old) == 1
        return GOOD.replace(self.old, self.new)


BAD = {
    "unknown key": Bad("seed: 1", "sede: 1", 2, 1, "unknown-key", "sede", "did you mean 'seed'?"),
    "unknown nested key": Bad(
        "      count: 4\n",
        "      count: 4\n      colour: red\n",
        7,
        7,
        "unknown-key",
        "system.groups[0].colour",
        "there are: name, count, resources",
    ),
    "unknown parameter": Bad(
        "  depth: 3", "  dept: 3", 14, 3, "unknown-key", "dispatcher.dept", "mean 'depth'?"
    ),
    "missing key": Bad(
        "      count: 4\n",
        "",
        5,
        7,
        "missing-key",
        "system.groups[0].count",
        "the key 'count' is missing",
    ),
    "missing top-level key": Bad(
        "name: small\n", "", 1, 1, "missing-key", "name", "the key 'name' is missing"
    ),
    "missing plugin name": Bad(
        "  name: list\n", "", 11, 1, "missing-key", "dispatcher.name", "it names the dispatcher"
    ),
    "unknown plugin": Bad(
        "name: list", "name: lits", 12, 9, "unknown-plugin", "dispatcher.name", "mean 'list'?"
    ),
    "unknown nested plugin": Bad(
        "order: fcfs",
        "order: lcfs",
        13,
        10,
        "unknown-plugin",
        "dispatcher.order",
        "no queue order is called 'lcfs'",
    ),
    "plugin name of a wrong type": Bad(
        "name: list",
        "name: 3",
        12,
        9,
        "bad-value",
        "dispatcher.name",
        "expected a name, found 3",
    ),
    "plugin as a list": Bad(
        "order: fcfs",
        "order: [fcfs]",
        13,
        10,
        "bad-value",
        "dispatcher.order",
        "expected a name, or a mapping with 'name', found a list",
    ),
    "text for a number": Bad(
        "count: 4",
        "count: four",
        6,
        14,
        "bad-value",
        "system.groups[0].count",
        "expected a whole number, found 'four'",
    ),
    "quoted number": Bad(
        "count: 4",
        "count: '4'",
        6,
        14,
        "bad-value",
        "system.groups[0].count",
        "expected a whole number, found '4'",
    ),
    "true for a number": Bad(
        "seed: 1", "seed: true", 2, 7, "bad-value", "seed", "expected a whole number, found true"
    ),
    "too small a number": Bad(
        "count: 4",
        "count: 0",
        6,
        14,
        "bad-value",
        "system.groups[0].count",
        "expected a value of at least 1, found 0",
    ),
    "octal number": Bad(
        "count: 4",
        "count: 010",
        6,
        14,
        "bad-value",
        "system.groups[0].count",
        "010 with a leading zero is octal in YAML 1.1",
    ),
    "sexagesimal number": Bad(
        "length: 30min",
        "length: 1:30:00",
        10,
        11,
        "bad-value",
        "trace.length",
        "expected a duration such as 90s, 30min, 1h30min or 2d, found '1:30:00'",
    ),
    "word for a boolean": Bad(
        "seed: 1",
        "simulation: {aggregate_nodes: on}",
        2,
        31,
        "bad-value",
        "simulation.aggregate_nodes",
        "expected true or false, found 'on'; write true",
    ),
    "word outside a list of words": Bad(
        "order: fcfs",
        "option: lazy",
        13,
        11,
        "bad-value",
        "dispatcher.option",
        "expected 'strict' or 'greedy', found 'lazy'",
    ),
    "bad amount": Bad(
        "16GiB",
        "16GB2",
        7,
        33,
        "bad-value",
        "system.groups[0].resources.mem",
        "expected an amount such as 4, 512MB or 16GiB or a mapping of keys, found '16GB2'",
    ),
    "bad resource type": Bad(
        "core: 8",
        "Core: 8",
        7,
        19,
        "bad-value",
        "system.groups[0].resources.Core",
        "expected a resource type such as core",
    ),
    "nothing to offer": Bad(
        "{core: 8, mem: 16GiB}",
        "{core: 0}",
        7,
        18,
        "bad-value",
        "system.groups[0].resources",
        "expected at least one resource type with more than 0",
    ),
    "name that is no folder name": Bad(
        "name: small", "name: a/b", 1, 7, "bad-value", "name", "found 'a/b'"
    ),
    "mapping for a list": Bad(
        "    - name: node\n      count",
        "      name: node\n      count",
        5,
        7,
        "bad-value",
        "system.groups",
        "expected a list, found a mapping",
    ),
    "nothing for a mapping": Bad(
        "seed: 1",
        "simulation:",
        2,
        12,
        "bad-value",
        "simulation",
        "expected a mapping of keys, found nothing",
    ),
    "empty list": Bad(
        "    - name: node\n      count: 4\n      resources: {core: 8, mem: 16GiB}\n",
        "    []\n",
        5,
        5,
        "bad-value",
        "system.groups",
        "expected a list that is not empty, found an empty list",
    ),
    "duplicate group": Bad(
        "trace:\n",
        "    - {count: 1, name: node, resources: {core: 1}}\ntrace:\n",
        8,
        24,
        "duplicate-name",
        "system.groups[1].name",
        "two groups are called 'node'",
    ),
    "duplicate key": Bad(
        "trace:\n",
        "seed: 2\ntrace:\n",
        8,
        1,
        "duplicate-key",
        "seed",
        "the key 'seed' is given twice; first in line 2",
    ),
    "merge key": Bad(
        "  depth: 3",
        "  <<: {depth: 3}",
        14,
        3,
        "merge-key",
        'dispatcher."<<"',
        "merge keys are not part of YAML 1.2",
    ),
    "list as a key": Bad(
        "seed: 1", "? [1]\n: 2", 2, 3, "bad-value", "", "a list or mapping cannot be a key"
    ),
    "tag": Bad(
        "seed: 1",
        "seed: !!python/name:os.system 1",
        2,
        7,
        "bad-value",
        "seed",
        "the tag !!python/name:os.system is not used",
    ),
    "syntax": Bad("seed: 1", "seed: [1", 3, 7, "syntax", "", "not valid YAML: expected ',' or ']'"),
    "tabulator": Bad(
        "  length", "\tlength", 10, 1, "syntax", "", "indent with spaces, not with tabs"
    ),
    "control character": Bad("seed: 1", "seed: \x01", 2, 7, "syntax", "", "U+0001 is not allowed"),
    "second document": Bad(
        "trace:\n", "---\ntrace:\n", 8, 1, "syntax", "", "a second YAML document starts here"
    ),
    "endless choice": Bad(
        "  name: list\n  order: fcfs\n  depth: 3\n",
        "  name: endless\n",
        12,
        3,
        "bad-value",
        "dispatcher",
        "more than 20 choices within choices",
    ),
    "union": Bad(
        "  name: list\n  order: fcfs\n  depth: 3\n",
        "  name: best-of\n  members: [{}]\n  limit: 2.5\n",
        14,
        10,
        "bad-value",
        "dispatcher.limit",
        "expected a whole number or 'none', found 2.5",
    ),
    "metric parameter": Bad(
        "seed: 1",
        "metrics: {mean_bounded_slowdown: {tau: -1}}",
        2,
        40,
        "bad-value",
        "metrics.mean_bounded_slowdown.tau",
        "expected a value of at least 0, found -1",
    ),
    "bounds that do not ascend": Bad(
        "seed: 1",
        "metrics: {class_bounds: [5h, 1h]}",
        2,
        25,
        "bad-value",
        "metrics.class_bounds",
        "expected bounds that ascend",
    ),
}


def write(folder: Path, text: str = GOOD, name: str = "scenario.yaml") -> Path:
    """Write a scenario into a folder."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def faults(model: type[BaseModel], value: Any) -> list[tuple[str, str, str]]:
    """Return rule, key path and message of each fault of a block that is not valid."""
    with pytest.raises(ValidationError) as caught:
        model.model_validate(value)
    return [
        (fault.rule, show_key_path(fault.key), fault.message)
        for fault in faults_of(caught.value, value, {})
    ]
