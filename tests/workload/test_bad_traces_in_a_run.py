"""A trace that cannot be used ends `hpcsched run` with one message at its place and exit code 1."""

import gzip
from pathlib import Path

import pytest

from hpcsched.cli import main

GOOD = "1 0 -1 60 2 -1 -1 2 100 -1 1 1 1 1 1 1 -1 -1"
LATER = "2 10 -1 60 2 -1 -1 2 100 -1 1 1 1 1 1 1 -1 -1"
SCENARIO = """\
name: bad-trace
system: {{groups: [{{name: node, count: 4, resources: {{core: 1}}}}]}}
trace: {{source: swf, path: trace.swf, {settings}}}
dispatcher: easy
"""

# What stands in the trace, further settings of its source, where the message points (the line of
# the trace, or None for the file), the rule, and what the message says.
KINDS = {
    "too few fields": ("1 0 -1", "", 1, "malformed", "expected 18 fields, found 3"),
    "too many fields": (f"{GOOD} 7", "", 1, "malformed", "expected 18 fields, found 19"),
    "words": (GOOD.replace("60", "long"), "", 1, "malformed", "expected whole numbers"),
    "fractions": (GOOD.replace("60", "6.5"), "", 1, "fractional-seconds", "found 6.5"),
    "binary": ("\x00\x01\x02 \x03", "", 1, "malformed", "expected 18 fields"),
    "no submit time": (GOOD.replace("1 0", "1 -1", 1), "", 1, "malformed", "submit time"),
    "same number twice": (f"{GOOD}\n{GOOD}", "", 2, "malformed", "job number 1 was seen before"),
    "unsorted": (
        f"{LATER}\n{GOOD}", "", 2, "unsorted", "expected a submit time of at least 10",
    ),
    "no requested time": (
        GOOD.replace(" 100 ", " -1 "), "", 1, "missing-requested-time", "no requested time",
    ),
    "no processors": (
        GOOD.replace("-1 -1 2", "-1 -1 -1", 1),
        "missing_processors: error", 1, "missing-processors", "no requested processors",
    ),
    "no run time": (
        GOOD.replace(" 60 ", " -1 "),
        "missing_run_time: error", 1, "missing-run-time", "no run time",
    ),
    "larger than the system": (
        GOOD.replace("-1 -1 2", "-1 -1 5", 1),
        "larger_than_system: error", 1, "larger-than-system", "at most 4 fit",
    ),
    "unit of an unknown type": (
        GOOD, "unit: {gpu: 1}", None, "unknown-resource-type", "gpu, which no node group has",
    ),
    "types in the trace that the system lacks": (
        f"; UnitResources: core mem\n{GOOD} 1 1",
        "", None, "unknown-resource-type", "mem, which no node group has",
    ),
    "an amount that is no number": (
        f"; UnitResources: core\n{GOOD} many", "", 2, "malformed", "expected whole numbers",
    ),
}  # fmt: skip


def run(folder: Path, settings: str = "") -> int:
    """Run a scenario on `trace.swf` in the folder."""
    scenario = folder / "scenario.yaml"
    scenario.write_text(SCENARIO.format(settings=settings))
    return main(["run", str(scenario), "--out", str(folder / "out")])


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_bad_trace_has_its_message(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The message names file, line and rule, says what was expected, and is all there is."""
    text, settings, line, rule, message = KINDS[kind]
    trace = tmp_path / "trace.swf"
    trace.write_text(text + "\n")
    assert run(tmp_path, settings) == 1
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1
    place = f"{trace}:{line}: error" if line else f"{tmp_path / 'scenario.yaml'}:3:"
    assert said[0].startswith(place)
    assert message in said[0]
    assert said[0].endswith(f"[{rule}]")


def test_a_missing_trace_is_named_at_its_place_in_the_scenario(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The place is that of the path in the scenario."""
    assert run(tmp_path) == 1
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1
    assert said[0].startswith(f"{tmp_path / 'scenario.yaml'}:3:")
    assert "there is no file" in said[0]


def test_a_variable_that_is_not_set_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message names the variable."""
    monkeypatch.delenv("HPCSCHED_NO_SUCH_FOLDER", raising=False)
    scenario = tmp_path / "scenario.yaml"
    scenario.write_text(
        SCENARIO.format(settings="").replace(
            "path: trace.swf", "path: '${HPCSCHED_NO_SUCH_FOLDER}/x.swf'"
        )
    )
    assert main(["run", str(scenario), "--out", str(tmp_path / "out")]) == 1
    assert "HPCSCHED_NO_SUCH_FOLDER is not set" in capsys.readouterr().err


def test_a_unit_that_asks_for_nothing_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The message stands at the unit in the scenario."""
    (tmp_path / "trace.swf").write_text(GOOD + "\n")
    assert run(tmp_path, "unit: {core: 0}") == 1
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1
    assert "trace.unit: expected an amount of at least one resource type" in said[0]


def test_a_folder_is_no_trace(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder in the trace's place gives one message."""
    (tmp_path / "trace.swf").mkdir()
    assert run(tmp_path) == 1
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1
    assert said[0].endswith("[not-a-file]")


@pytest.mark.parametrize("keep", [0.5, 0.99])
def test_a_cut_off_gzip_file_is_called_damaged(
    keep: float, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The message says after which line the damage is."""
    lines = [GOOD.replace("1 0", f"{n} {n}", 1) for n in range(1, 2000)]
    packed = gzip.compress("\n".join(lines).encode())
    (tmp_path / "trace.swf").write_bytes(packed[: int(len(packed) * keep)])
    assert run(tmp_path) == 1
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1
    assert said[0].endswith("[damaged-trace]")


def test_a_changed_gzip_file_is_called_damaged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A flipped byte does not go through as data."""
    packed = bytearray(gzip.compress("\n".join([GOOD] * 5000).encode(), mtime=0))
    packed[-6] ^= 0xFF
    (tmp_path / "trace.swf").write_bytes(bytes(packed))
    assert run(tmp_path, "malformed: skip") == 1
    assert capsys.readouterr().err.rstrip().endswith("[damaged-trace]")
