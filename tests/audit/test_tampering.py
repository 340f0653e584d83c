"""Each column and key of a run is changed in turn, and `verify` notices.

By accident, the hashes in the manifest stay as they were. Someone careful makes them right: what is
noticed then follows from something else, and `UNNOTICED` names the rest. Of 509 changes to the run
here, 49 write out or leave out a default of the scenario; of the other 460, 22 go unnoticed without
a replay. Another dispatcher is noticed here only because it has other parameters: see
`test_replay.py`.
"""

import json
import shutil
from collections.abc import Callable, Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from hpcsched.errors import HpcschedError
from hpcsched.results.directory import RunDirectory
from hpcsched.runs.auditing import audit_directory
from hpcsched.runs.runner import run
from hpcsched.scenario import load_scenario
from tests.audit.test_every_rule import FAILURES, JOBS, SITE, swf_lines
from tests.results.hand_made import seal

Change = tuple[str, Callable[[Path], None]]
"""What is changed (file, column or key, and how), and how it is done to a copy of the run."""

UNNOTICED = {
    # The decisions might have been made so; `--replay` tells.
    "jobs.parquet: predicted_run_time": "what is predicted is the predictor's word",
    "jobs.parquet: nodes": "the units would have had room on other nodes as well",
    "reasons.parquet: job": "why a job waits is the dispatcher's word",
    "reasons.parquet: time": "as above",
    "reasons.parquet: detail": "as above",
    "scenario.yaml: predictor.name: *": "as for predictions",
    "scenario.yaml: partitions.*.max_time: *": "a limit that the same jobs exceed",
    "scenario.yaml: partitions.*.*_per_user: *": "a limit that no job reached",
    "scenario.yaml: partitions.*.priority: *": "what a dispatcher makes of it is its own",
    "scenario.yaml: simulation.kill_at_requested_time: *": "no job reached its requested time",
    "scenario.yaml: simulation.aggregate_nodes: *": "a faster form with the same results",
    # Names and remarks that nothing follows from.
    "scenario.yaml: system.groups.1.name: *": "nothing but the scenario names this group",
    "scenario.yaml: partitions.*.name: *": "nothing but the scenario names partitions",
    # What only the manifest says.
    "manifest.json: versions.*: another": "no other file says it; `--replay` asks for the same",
    "manifest.json: platform: another": "no other file says it",
    "manifest.json: cpu_count: another": "no other file says it",
    "manifest.json: in_python.*: another": "no other file says it",
    "manifest.json: trace_files.0.changed: taken away": "it is false where it is not there",
    "manifest.json: trace_files.0.answer: taken away": "it is false where it is not there",
    "manifest.json: error: taken away": "it is null where it is not there",
}
"""Changes that go unnoticed where hashes are right, as patterns, and why."""

EVERY = 31
"""Of so many changes, the quick version tries one."""

ANOTHER = {"easy": "conservative", "requested-time": "actual"}
"""Plugins that stand in for others."""


@pytest.fixture(scope="module", name="honest")
def _honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a run with partitions, outages, shared power, dependencies, latency and reasons."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "failures.csv").write_text(FAILURES)
    (folder / "jobs.swf").write_text(swf_lines(JOBS))
    (folder / "scenario.yaml").write_text(SITE)
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
    """Return all changes of a run: of each column, and of each key, which is also taken away."""
    found: list[Change] = []
    for path in sorted(folder.glob("*.parquet")):
        found += column_changes(path)
    for path in sorted(folder.glob("*.json")):
        found += key_changes(path, json.loads(path.read_text()), json.dumps)
    path = folder / "scenario.yaml"
    found += key_changes(path, yaml.safe_load(path.read_text()), yaml.safe_dump)
    return found


def column_changes(path: Path) -> Iterator[Change]:
    """Yield a change of each column and field of a table, in the first row that has a value."""
    table = pq.read_table(path)
    rows = table.to_pylist()
    for field in table.schema:
        k = next((k for k, row in enumerate(rows) if row[field.name] is not None), 0)
        kind = field.type
        names = [one.name for one in kind] if isinstance(kind, pa.StructType) else [None]
        for name in names:
            value = rows[k][field.name]
            if value is None:
                new: Any = "x" if pa.types.is_string(kind) else [0] if "list" in str(kind) else 1
                if isinstance(kind, pa.StructType):
                    continue
            else:
                new = other(value) if name is None else {**value, name: other(value[name])}

            def change(copy: Path, field: str = field.name, k: int = k, new: Any = new) -> None:
                changed = [row if n != k else {**row, field: new} for n, row in enumerate(rows)]
                pq.write_table(table.from_pylist(changed, schema=table.schema), copy / path.name)

            yield f"{path.name}: {field.name}{f'.{name}' if name else ''}", change


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
