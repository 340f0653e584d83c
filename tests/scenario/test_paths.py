"""Paths that no file can have: an error at the path, wherever a scenario or experiment has one."""

from pathlib import Path
from typing import NamedTuple

import pytest

from hpcsched.cli import main
from hpcsched.errors import Finding, InputError
from hpcsched.runs.directory import create
from hpcsched.scenario.loading import read_scenario
from hpcsched.scenario.review import missing_inputs
from hpcsched.studies.study_files import read_experiment
from hpcsched.workload.readers.swf import SwfParams

SYSTEM = "{groups: [{name: n, count: 2, resources: {core: 1}}]}"
SWF = "{source: swf, path: log.swf}"


class Bad(NamedTuple):
    """A path as YAML has it, and what is said of it."""

    path: str
    message: str


BAD = {
    "no such user": Bad("~nosuchuser/x.swf", "there is no user 'nosuchuser'"),
    "a name too long": Bad("x" * 300, "too long a path: 300 bytes"),
    "a path too long": Bad("x/" * 3000 + "y", "too long a path: 6001 bytes"),
    "a NUL": Bad('"a\\0b.swf"', "a path without the character U+0000, found 'a\\x00b.swf'"),
}

# The text of a scenario, what is before the path in its line, the line and the key.
PLACES = {
    "trace": (f"system: {SYSTEM}\ntrace: {{source: swf, path: PATH}}\n", 4, "trace.path"),
    "a table": (f"system: {SYSTEM}\ntrace: {{source: table, path: PATH}}\n", 4, "trace.path"),
    "batsim": (f"system: {SYSTEM}\ntrace: {{source: batsim, path: PATH}}\n", 4, "trace.path"),
    "a run": (f"system: {SYSTEM}\ntrace: {{source: run, path: PATH}}\n", 4, "trace.path"),
    "accounting": (
        f"system: {SYSTEM}\ntrace: {{source: pbs-accounting, path: PATH}}\n",
        4,
        "trace.path",
    ),
    "failures": (
        f"system: {SYSTEM}\ntrace: {SWF}\noutages: {{failure_log: PATH}}\n",
        5,
        "outages.failure_log",
    ),
    "a cluster": (
        f"system: {SYSTEM}\ntrace: {SWF}\nlive: {{workload_manager: {{name: state-file,"
        " path: PATH}, partitions: [p], nodes: {n: 'c[1-2]'}}\n",
        5,
        "live.workload_manager.path",
    ),
    "a driver's folder": (
        f"system: {SYSTEM}\ntrace: {SWF}\nlive: {{workload_manager: {{name: state-file,"
        " path: s.json}, folder: PATH, partitions: [p], nodes: {n: 'c[1-2]'}}\n",
        5,
        "live.folder",
    ),
    "a system": (f"system: PATH\ntrace: {SWF}\n", 3, "system"),
}  # fmt: skip


def findings_of(path: Path, *overrides: str) -> list[Finding]:
    """Return what is wrong with a scenario."""
    with pytest.raises(InputError) as caught:
        read_scenario(path, overrides)
    return list(caught.value.findings)


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
@pytest.mark.parametrize("place", PLACES)
def test_in_a_scenario(place: str, bad: Bad, tmp_path: Path) -> None:
    """One finding, at the line and column of the path."""
    text, line, key = PLACES[place]
    given = bad.path
    if place == "a system":  # what ends otherwise is a name
        given = f'{given[:-1]}.yaml"' if given[-1] == '"' else f"{given}.yaml"
    path = tmp_path / "scenario.yaml"
    path.write_text("name: paths\ndispatcher: easy\n" + text.replace("PATH", given))
    (finding,) = findings_of(path)
    column = text.splitlines()[line - 3].index("PATH") + 1
    assert str(finding.place) == f"{path}:{line}:{column}"
    assert finding.key == key
    assert finding.severity == "error"
    if place != "a system":
        assert bad.message in finding.message
        assert finding.rule == "bad-value"
    assert len(finding.message) < 200


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_in_an_override(bad: Bad, tmp_path: Path) -> None:
    """The finding stands at the override."""
    path = tmp_path / "scenario.yaml"
    path.write_text(f"name: paths\nsystem: {SYSTEM}\ntrace: {SWF}\ndispatcher: easy\n")
    (finding,) = findings_of(path, f"trace.path={bad.path}")
    assert bad.message in finding.message
    assert "--set trace.path" in str(finding.place)


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
@pytest.mark.parametrize("key", ["scenario", "set", "matrix"])
def test_in_an_experiment(key: str, bad: Bad, tmp_path: Path) -> None:
    """The base scenario, what is set in all cells and what an axis has: each at its place."""
    (tmp_path / "log.swf").write_text("")
    base = tmp_path / "scenario.yaml"
    base.write_text(f"name: paths\nsystem: {SYSTEM}\ntrace: {SWF}\ndispatcher: easy\n")
    lines = {
        "scenario": ("scenario: PATH", "matrix: [{seed: [1]}]"),
        "set": ("scenario: scenario.yaml", "matrix: [{seed: [1]}]", "set: {trace.path: PATH}"),
        "matrix": ("scenario: scenario.yaml", "matrix: [{trace.path: [PATH], names: [one]}]"),
    }[key]
    text = "\n".join(("name: many", *lines)) + "\n"
    path = tmp_path / "many.yaml"
    path.write_text(text.replace("PATH", bad.path))
    with pytest.raises(InputError) as caught:
        read_experiment(path)
    (finding,) = caught.value.findings
    line = next(n for n, line in enumerate(text.splitlines(), 1) if "PATH" in line)
    column = text.splitlines()[line - 1].index("PATH") + 1
    assert str(finding.place) == f"{path}:{line}:{column}"
    assert bad.message in finding.message


def test_the_home_of_nobody_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`~` alone needs a home directory."""
    monkeypatch.setattr("os.path.expanduser", lambda path: path)
    path = tmp_path / "scenario.yaml"
    path.write_text(
        f"name: p\nsystem: {SYSTEM}\ntrace: {{source: swf, path: ~/x}}\ndispatcher: easy\n"
    )
    assert "this user has no home directory" in findings_of(path)[0].message


def test_a_path_in_a_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a variable stands for is looked at too."""
    monkeypatch.setenv("HPCSCHED_LOGS", "~nosuchuser")
    path = tmp_path / "scenario.yaml"
    path.write_text(
        f"name: p\nsystem: {SYSTEM}\ntrace: {{source: swf, path: '${{HPCSCHED_LOGS}}/x'}}\n"
        "dispatcher: easy"
    )
    (finding,) = findings_of(path)
    assert "there is no user 'nosuchuser'" in finding.message


def test_a_folder_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of which nothing can be known is not called one that is not there."""

    def denied(path: object, *_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    path = tmp_path / "scenario.yaml"
    path.write_text(f"name: p\nsystem: {SYSTEM}\ntrace: {SWF}\ndispatcher: easy\n")
    loaded = read_scenario(path)
    monkeypatch.setattr(Path, "stat", denied)
    (finding,) = missing_inputs(loaded, "error")
    assert "the file cannot be read: permission denied" in finding.message
    assert str(finding.place) == f"{path}:3:28"


def test_outside_a_scenario() -> None:
    """Parameters that are made by hand are checked as well."""
    with pytest.raises(ValueError, match="U\\+0000"):
        SwfParams(path="a\0b")


@pytest.mark.parametrize("out", ["a\0b", "x" * 300, "x/" * 3000 + "y"])
def test_run_directories(out: str, tmp_path: Path) -> None:
    """A run directory's path is checked before anything is made."""
    with pytest.raises(InputError, match="cannot-write"):
        create(tmp_path / out)
    assert not list(tmp_path.iterdir())


COMMANDS = {
    "run": ["run", "LONG"],
    "run --out": ["run", "SCENARIO", "--out", "LONG"],
    "validate": ["validate", "LONG"],
    "experiment": ["experiment", "LONG"],
    "verify": ["verify", "LONG"],
    "compare": ["compare", "LONG", "LONG"],
    "report": ["report", "LONG"],
    "explain": ["explain", "LONG", "1"],
    "status": ["status", "LONG"],
    "diff": ["diff", "LONG", "LONG"],
    "live": ["live", "advise", "LONG"],
    "trace info": ["trace", "info", "LONG"],
    "trace convert": ["trace", "convert", "LONG.swf", "--out", "x.swf"],
    "trace convert to": ["trace", "convert", "LOG", "--out", "LONG.swf"],
    "trace instances record": [
        "trace",
        "instances",
        "record",
        "SCENARIO",
        "--out",
        "LONG.jsonl.gz",
    ],
    "trace instances compare": ["trace", "instances", "compare", "LONG", "LONG"],
    "plot gantt": ["plot", "gantt", "LONG", "--out", "x.svg"],
}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_on_the_command_line(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A path that is too long ends a command with one line that says so, and exit code 1."""
    (tmp_path / "log.swf").write_text("1 0 -1 60 2 -1 -1 2 100 -1 1 1 1 1 1 1 -1 -1\n")
    scenario = tmp_path / "scenario.yaml"
    scenario.write_text(f"name: p\nsystem: {SYSTEM}\ntrace: {SWF}\ndispatcher: easy\n")
    words = {"SCENARIO": str(scenario), "LOG": str(tmp_path / "log.swf")}
    long = str(tmp_path / ("x" * 300))
    code = main([words.get(word, word.replace("LONG", long)) for word in command])
    said = capsys.readouterr()
    assert code == 1, said
    assert "too long" in said.err + said.out
    assert "internal" not in said.err
    assert "plugin" not in said.err
