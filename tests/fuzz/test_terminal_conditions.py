"""Commands meet hostile names, streams that are closed or full, odd terminals and full disks."""

import os
import shutil
from pathlib import Path

import pytest

from hpcsched import cli
from tests.cli.test_main import commands
from tests.fuzz.terminal_conditions import (
    CLOSED,
    COMMANDS,
    CONDITIONS,
    DISKS,
    LOST_OUTPUT,
    PAYLOADS,
    RUN,
    Ended,
    carry_out,
    controls,
    faults,
    write_inputs,
)

PREPARED = (
    "run s.yaml --quiet",
    "trace instances record s.yaml --out hostile.instances",
    "trace instances solve hostile.instances s.yaml --out solved",
)
NAMES = ("user", "group", "partition", "queue")
QUICK = (
    *("run", "validate", "explain", "status", "when", "diff", "trace info", "trace accounts-from"),
)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a hostile log, and with a run and dispatching problems of it."""
    folder = tmp_path_factory.mktemp("hostile")
    write_inputs(folder)
    before = Path.cwd()
    os.chdir(folder)
    try:
        for command in PREPARED:
            assert cli.main(command.split()) == 0
    finally:
        os.chdir(before)
    return folder


def fresh(folder: Path) -> Path:
    """Return a folder with an empty folder `out` in it."""
    shutil.rmtree(folder / "out", ignore_errors=True)
    (folder / "out").mkdir()
    return folder


def left_behind(folder: Path) -> list[str]:
    """Return files that were begun, or that are empty though they were to hold something."""
    return [
        str(path.relative_to(folder))
        for path in (folder / "out").rglob("*")
        if path.is_file()
        and (path.name.endswith(".unfinished") or not path.stat().st_size)
        and path.name != "py.typed"
    ]


def test_every_command_is_there() -> None:
    """A new command meets all of this too."""
    groups = {name.rpartition(" ")[0] for name, _ in commands()}
    assert set(COMMANDS) == {name for name, _ in commands()} - groups
    assert (len(COMMANDS), len(CONDITIONS), len(DISKS)) == (41, 12, 4)


@pytest.mark.parametrize("name", QUICK)
def test_hostile_names(
    name: str, place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """No character of a name reaches the terminal that it would obey."""
    monkeypatch.chdir(fresh(place))
    arguments, code = COMMANDS[name]
    assert cli.main(arguments.split()) == code
    out, err = capsys.readouterr()
    assert controls(out + err) == set()
    assert faults(Ended(code, out, err)) == []


@pytest.mark.parametrize("by", NAMES)
@pytest.mark.parametrize("format_", ["text", "markdown", "csv", "json", "latex"])
def test_hostile_names_in_tables(
    by: str,
    format_: str,
    place: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Names are told whole: what a terminal would obey is shown, in all formats."""
    monkeypatch.chdir(place)
    assert cli.main(["compare", RUN, "--by", by, "--format", format_]) == 0
    out = capsys.readouterr().out
    assert controls(out) == set()
    # Names with square brackets are written otherwise in LaTeX.
    shown = ["u001b", "u009b31m", "u202e", "u2066", "u2028", "udb40"]
    assert [one for one in shown if one not in out] == []
    if format_ == "markdown":
        assert "&lt;b&gt;&amp;" in out
        assert "<b>" not in out
    if format_ == "csv" and by == "user":
        assert "\n'=\\u001b[2Ju," in out
        assert "\n=" not in out


def test_hostile_names_of_outages(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A job that waits for an outage is explained with the outage's name."""
    monkeypatch.chdir(place)
    told = ""
    for job in (100, 101):
        assert cli.main(["explain", RUN, str(job)]) == 0
        told += capsys.readouterr().out
    assert controls(told) == set()
    assert "m\\u001b[2J\\u001b]0;owned\\u0007\\u009b31m\\u202e" in told


def check(name: str, condition: str, folder: Path, arguments: str, usual: Ended) -> None:
    """Run a command under a condition, and compare it with what it usually does."""
    ended = CONDITIONS[condition](fresh(folder), arguments)
    assert faults(ended) == [], (name, condition, ended)
    expected = 1 if condition in LOST_OUTPUT and usual.out else usual.code
    assert ended.code == expected, (name, condition, ended)
    if condition == "output full" and usual.out:
        assert "standard output: error: it cannot be written: No space left" in ended.err
    if condition == "terminal":
        assert [one for one in PAYLOADS[:-1] if one in ended.out] == [], (name, ended)
    elif "terminal" in condition:
        assert controls(ended.out) <= {"\r"}, (name, condition, ended)
    else:
        assert controls(ended.out + ended.err) == set(), (name, condition, ended)
    if condition in CLOSED and condition != "all closed":
        assert (ended.out, ended.err) == (
            "" if condition == "output closed" else ended.out,
            "" if condition == "errors closed" else ended.err,
        )


@pytest.mark.parametrize("condition", CONDITIONS)
def test_conditions(condition: str, tmp_path: Path) -> None:
    """The condition of a stream changes no exit code, but where results are lost."""
    usual = Ended(0, "hpcsched", "")
    check("version", condition, tmp_path, "--version", usual)


@pytest.mark.parametrize(
    "arguments", ["schema --out out/a.json", "init plugin allocator a --out out/a"]
)
def test_a_full_disk(arguments: str, tmp_path: Path) -> None:
    """Nothing is left, and the path is told."""
    ended = carry_out(fresh(tmp_path), arguments, file_size=512)
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.startswith("out/a")
    assert "cannot be written: File too large" in ended.err
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_all_commands(name: str, place: Path) -> None:
    """Each of 45 commands under 12 conditions and 4 sizes of files: 720 processes, and 45 usual."""
    arguments, code = COMMANDS[name]
    usual = carry_out(fresh(place), arguments)
    assert (usual.code, faults(usual), controls(usual.out + usual.err)) == (code, [], set())
    for condition in CONDITIONS:
        check(name, condition, place, arguments, usual)
    for size in DISKS:
        ended = carry_out(fresh(place), arguments, file_size=size)
        assert faults(ended) == [], (name, size, ended)
        assert left_behind(place) == [], (name, size, ended)
        assert ended.code in {code, 1}
        if ended.code != code:
            assert "cannot be written" in ended.err + ended.out, (name, size, ended)
            where = [f"{root}/" in ended.err + ended.out for root in ("out", "runs")]
            assert any(where), (name, size, ended)
