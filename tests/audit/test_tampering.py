"""Each cell, row, key, line and file of a run is changed in turn, and `verify` notices.

By accident, the hashes in the manifest stay as they were. Someone careful makes them right: what is
noticed then follows from something else, and `UNNOTICED` names the rest. There are 2,109 changes of
a run with each kind of table, and 911 of one without observers, under Slurm's dispatcher. Of
these, 93 and 22 go unnoticed without a replay, 72 of them measured values in `usage.parquet`; what
writes out or leaves out a default of the scenario does not count. Another dispatcher is noticed
here only because it has other parameters: see `test_replay.py`.
"""

import json
import shutil
from collections.abc import Callable, Iterator
from fnmatch import fnmatch
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from hpcsched.audit.auditing import audit_directory
from hpcsched.errors import HpcschedError
from hpcsched.runs.directory import RunDirectory
from hpcsched.runs.runner import run
from hpcsched.scenario import load_scenario
from tests.audit.test_every_rule import FAILURES, JOBS, SCENARIOS, swf_lines
from tests.runs.hand_made import seal

Change = tuple[str, Callable[[Path], Any]]
"""What is changed (file, column or key, and how), and how it is done to a copy of the run."""

UNNOTICED = {
    # The decisions might have been made so; `--replay` tells.
    "jobs.parquet: nodes: *": "the units would have had room on other nodes as well",
    "jobs.parquet: row *later": "jobs that leave in the same second, which events would tell",
    "reasons.parquet: *later": "in which order a dispatcher looks at jobs is its own",
    "reasons.parquet: *left out": "a job may have kept the reason that it had before",
    "reasons.parquet: time: *": "a plan may have been another",
    "scenario.yaml: dispatcher.bf_*: *": "limits that no job reached",
    "scenario.yaml: dispatcher.default_queue_depth: *": "as above",
    # What was measured.
    "usage.parquet: *_time: *": "no other file has the CPU times of rounds",
    "usage.parquet: memory: *": "no other file has the memory",
    "scenario.yaml: partitions.*.max_time: *": "a limit that the same jobs exceed",
    "scenario.yaml: partitions.*.*_per_user: *": "a limit that no job reached",
    "scenario.yaml: partitions.*.priority: *": "what a dispatcher makes of it is its own",
    "scenario.yaml: simulation.kill_at_requested_time: *": "no job reached its requested time",
    "scenario.yaml: simulation.aggregate_nodes: *": "a faster form with the same results",
    # Names and remarks that nothing follows from.
    "scenario.yaml: system.groups.*.name: *": "nothing but the scenario names this group",
    "scenario.yaml: partitions.*.name: *": "nothing but the scenario names partitions",
    # What only the manifest says.
    "manifest.json: versions.*: another": "no other file says it; `--replay` asks for the same",
    "manifest.json: platform: another": "no other file says it",
    "manifest.json: cpu_count: another": "no other file says it",
    "manifest.json: in_python.*: another": "no other file says it",
    "manifest.json: in_python: taken away": "without an obstacle, no other file says it",
    "manifest.json: trace_files.0.changed: taken away": "it is false where it is not there",
    "manifest.json: trace_files.0.answer: taken away": "it is false where it is not there",
    "manifest.json: error: taken away": "it is null where it is not there",
}
"""Changes that go unnoticed where hashes are right, as patterns, and why."""

EVERY = 173
"""Of so many changes, the quick version tries one."""

ANOTHER = {"easy": "conservative", "requested-time": "actual"}
"""Plugins that stand in for others."""


@pytest.fixture(scope="module", name="honest", params=["site", "slurm"])
def _honest(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a run, of which one has each table and the other rounds that were asked for."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "failures.csv").write_text(FAILURES)
    (folder / "jobs.swf").write_text(swf_lines(JOBS))
    (folder / "scenario.yaml").write_text(SCENARIOS[request.param])
    return run(load_scenario(folder / "scenario.yaml"), folder / "run").directory.path


def other(value: Any) -> Any:
    """Return another value of the same kind."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, str):
        return ANOTHER.get(value, value + "x")
    if isinstance(value, list):
        return [other(value[0]), *value[1:]] if value else [1]
    if isinstance(value, dict):
        return {**value, "x": 1} if not value else {key: other(of) for key, of in value.items()}
    return 1


def changes(folder: Path) -> list[Change]:
    """Return all changes of a run: of each cell, row, key, line and file."""
    found: list[Change] = []
    for path in sorted(folder.glob("*.parquet")):
        found += cell_changes(path)
        found += order_changes(path)
    for path in sorted(folder.glob("*.json")):
        found += key_changes(path, json.loads(path.read_text()), json.dumps)
    path = folder / "scenario.yaml"
    found += key_changes(path, yaml.safe_load(path.read_text()), yaml.safe_dump)
    for path in sorted(folder.glob("*.jsonl")):
        found += line_changes(path)
    found += file_changes(folder)
    return found


def cell_changes(path: Path) -> Iterator[Change]:
    """Yield a change of each cell of a table, and of each field of one."""
    table = pq.read_table(path)
    rows = table.to_pylist()
    for field in table.schema:
        kind = field.type
        names = [one.name for one in kind] if isinstance(kind, pa.StructType) else [None]
        for k, name in product(range(len(rows)), names):
            value = rows[k][field.name]
            if value is None and isinstance(kind, pa.StructType):
                continue
            if name is not None:
                new = {**value, name: other(value[name])}
            else:
                new = first_value(kind) if value is None else other(value)
            changed = [*rows[:k], {**rows[k], field.name: new}, *rows[k + 1 :]]
            column = f"{path.name}: {field.name}{f'.{name}' if name else ''}"
            yield f"{column}: row {k}", table_writer(table, changed, path.name)


def first_value(kind: pa.DataType) -> Any:
    """Return a value of a column's type."""
    if isinstance(kind, pa.ListType):
        return [first_value(kind.value_type)]
    return "x" if pa.types.is_string(kind) else 1


def order_changes(path: Path) -> Iterator[Change]:
    """Yield changes of a table's rows: each is left out, is there twice, and changes places."""
    table = pq.read_table(path)
    for what, changed in reordered(table.to_pylist()):
        yield f"{path.name}: {what}", table_writer(table, changed, path.name)


def reordered(rows: list[Any]) -> Iterator[tuple[str, list[Any]]]:
    """Yield lists without each element, with each twice, and with each behind the next one."""
    for k, row in enumerate(rows):
        yield f"row {k} left out", rows[:k] + rows[k + 1 :]
        yield f"row {k} twice", [*rows[:k], row, *rows[k:]]
        if rows[k + 1 :]:
            yield f"row {k} later", [*rows[:k], rows[k + 1], row, *rows[k + 2 :]]


def table_writer(table: pa.Table, rows: list[dict[str, Any]], name: str) -> Callable[[Path], None]:
    """Return a function that writes rows in place of a table's."""
    return lambda copy: pq.write_table(table.from_pylist(rows, schema=table.schema), copy / name)


def line_changes(path: Path) -> Iterator[Change]:
    """Yield changes of the lines of a log: of each value, and of the lines as rows."""
    lines = path.read_text().splitlines()
    changed: list[tuple[str, list[str]]] = list(reordered(lines))
    for k, line in enumerate(lines):
        event = json.loads(line)
        for key in event:
            for what, remove in (("another", False), ("taken away", True)):
                new = json.dumps(edited(event, (key,), remove=remove))
                changed.append((f"{key}: {what}: line {k}", [*lines[:k], new, *lines[k + 1 :]]))
    for what, content in changed:
        yield (
            f"{path.name}: {what}",
            lambda copy, content=content: (copy / path.name).write_text(
                "".join(f"{line}\n" for line in content)
            ),
        )


def file_changes(folder: Path) -> Iterator[Change]:
    """Yield for each file a change that takes it away, and one that empties it."""
    for path in sorted(folder.iterdir()):
        yield f"{path.name}: gone", lambda copy, name=path.name: (copy / name).unlink()
        yield f"{path.name}: emptied", lambda copy, name=path.name: (copy / name).write_text("")


def key_changes(path: Path, content: Any, dump: Callable[[Any], str]) -> Iterator[Change]:
    """Yield a change of each value of a file, and one that takes away each key."""

    def writer(changed: Any) -> Callable[[Path], None]:
        return lambda copy: (copy / path.name).write_text(dump(changed)) and None

    for where in key_paths(content):
        name = f"{path.name}: {'.'.join(map(str, where))}"
        yield f"{name}: another", writer(edited(content, where, remove=False))
        if isinstance(where[-1], str):
            yield f"{name}: taken away", writer(edited(content, where, remove=True))


def key_paths(content: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the paths of all values that hold no others."""
    inside: Any = ()
    if isinstance(content, dict):
        inside = content.items()
    elif isinstance(content, list):
        inside = enumerate(content)
    if not inside or not content:
        yield path
    for key, value in inside:
        yield from key_paths(value, (*path, key))


def edited(content: Any, path: tuple[str | int, ...], *, remove: bool) -> Any:
    """Return a copy of a file's content with one value changed or taken away."""
    copy = json.loads(json.dumps(content))
    inside = copy
    for key in path[:-1]:
        inside = inside[key]
    if remove:
        del inside[path[-1]]
    else:
        inside[path[-1]] = other(inside[path[-1]])
    return copy


def changed_copy(honest: Path, change: Change, folder: Path) -> Path:
    """Return a copy of a run with one change."""
    copy = folder / "run"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(honest, copy)
    change[1](copy)
    return copy


def says_the_same(honest: Path, change: Change, folder: Path) -> bool:
    """Return whether a scenario means what it did, as a default was written out."""
    if not change[0].startswith("scenario.yaml"):
        return False
    try:
        return load_scenario(
            changed_copy(honest, change, folder) / "scenario.yaml"
        ) == load_scenario(honest / "scenario.yaml")
    except HpcschedError:
        return False


def noticed(honest: Path, change: Change, folder: Path, *, sealed: bool) -> bool:
    """Return whether `verify` refuses a changed run or finds a violation."""
    copy = changed_copy(honest, change, folder)
    if sealed and not change[0].startswith("manifest.json"):
        seal(copy)
    try:
        return not audit_directory(RunDirectory.open(copy)).ok
    except HpcschedError:
        return True


def unnoticed(honest: Path, folder: Path, every: int, *, sealed: bool) -> list[str]:
    """Return which of every so many changes `verify` does not notice."""
    return [
        change[0]
        for change in changes(honest)[::every]
        if not noticed(honest, change, folder, sealed=sealed)
        and not (sealed and says_the_same(honest, change, folder))
    ]


def unexplained(found: list[str]) -> list[str]:
    """Return the changes that no pattern of `UNNOTICED` explains."""
    return [name for name in found if not any(fnmatch(name, pattern) for pattern in UNNOTICED)]


@pytest.mark.parametrize(
    "every", [EVERY, pytest.param(1, marks=pytest.mark.slow)], ids=["some", "all"]
)
def test_hashes_right(honest: Path, tmp_path: Path, every: int) -> None:
    """Whoever makes the hashes right is found out, but for changes that nothing else tells of."""
    assert unexplained(unnoticed(honest, tmp_path, every, sealed=True)) == []


@pytest.mark.parametrize(
    "every", [EVERY, pytest.param(1, marks=pytest.mark.slow)], ids=["some", "all"]
)
def test_by_accident(honest: Path, tmp_path: Path, every: int) -> None:
    """With hashes as they were, a change of any file but the manifest is found."""
    found = unnoticed(honest, tmp_path, every, sealed=False)
    assert [name for name in found if not name.startswith("manifest.json")] == []
    assert unexplained(found) == []
