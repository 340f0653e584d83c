"""A log of the Alea simulator that cannot be used ends `hpcsched run` with one message, exit 1."""

import gzip
from pathlib import Path

import pytest

from hpcsched.cli import main
from tests.workload.readers.alea_files import GIB, record

SCENARIO = """\
name: bad-alea
system:
  units: {{mem: {unit}}}
  groups:
    - {{name: a, count: 3, resources: {{core: 12, mem: 24GiB}}}}
    - {{name: b, count: 2, resources: {{core: 16, mem: 64GiB}}}}
trace: {{source: alea, path: trace.swf{settings}}}
dispatcher: easy
"""
GOOD = record(1)
NUMBER = "expected whole numbers"
REQUEST = "field 21: expected "

# What stands in line 2 (after a good line), further settings of the source, the rule, the message.
KINDS = {
    "too few fields": (record(2)[:-8], "", "malformed", "expected 21 fields, found 20"),
    "too many fields": (f"{record(2)} 7", "", "malformed", "expected 21 fields, found 22"),
    "nodes apart": (record(2, nodes="{7, 7}"), "", "malformed", "expected 21 fields, found 22"),
    "the standard's fields": (
        " ".join(record(2).split()[:18]), "", "malformed", "expected 21 fields, found 18",
    ),
    "letters for a number": (record(2, run="long"), "", "malformed", NUMBER),
    "a fraction": (record(2, run="6.5"), "", "fractional-seconds", "expected whole seconds"),
    "a huge number": (
        record(2, run=10**30), "", "malformed", "expected whole numbers",
    ),
    "a very huge number": (record(2, memory="9" * 5000), "", "malformed", NUMBER),
    "no braces": (
        record(2, nodes="7,7"), "", "malformed", "field 19: expected nodes between braces",
    ),
    "underscore digits": (record(2, run="6_0"), "", "malformed", "found '6_0'"),
    "a ppn of nothing": (record(2, ask="1:ppn="), "", "malformed", f"{REQUEST}ppn=1 or more"),
    "a ppn of zero": (record(2, ask="1:ppn=0"), "", "malformed", f"{REQUEST}ppn=1 or more"),
    "no nodes": (record(2, ask="0:ppn=1"), "", "malformed", f"{REQUEST}a number of nodes"),
    "a word for ppn": (record(2, ask="ppn=x"), "", "malformed", f"{REQUEST}ppn=1 or more"),
    "a flag that is none": (record(2, ask="#foo"), "", "malformed", f"{REQUEST}'#excl', found"),
    "no request": (record(2, ask="-1"), "", "malformed", f"{REQUEST}a number of nodes"),
    "more memory than there is": (
        record(2, ask="1:mem=999999999999999tb"), "", "malformed", "field 21: expected at most",
    ),
    "a repeated job number": (record(1), "", "malformed", "job number 1 was seen before"),
    "no submit time": (record(2, submit=-1), "", "malformed", "a submit time, found -1"),
    "a step back in time": (record(2, 5), "", "unsorted", "at least 1357000000, as the job before"),
    "missing memory": (record(2, memory=-1), "", "missing-memory", "no requested memory is given"),
    "no requested time": (
        record(2, requested=-1), "", "missing-requested-time", "no requested time",
    ),
    "no run time": (
        record(2, run=-1), ", missing_run_time: error", "missing-run-time", "no run time is given",
    ),
    "unlike chunks": (
        record(2, ask="1:ppn=1+3:ppn=2"), ", unlike_chunks: error", "unlike-chunks",
        "ask for unlike nodes",
    ),
    "an unknown property": (
        record(2, ask="1:infiniband:^x"), ", unknown_property: error", "unknown-property",
        "no node group is said to have infiniband, x",
    ),
    "larger than the system": (
        record(2, ask="3:ppn=16"), ", larger_than_system: error", "larger-than-system",
        "3 units are requested, and at most 2 fit",
    ),
}  # fmt: skip


def run(folder: Path, settings: str = "", unit: str = "1MiB") -> int:
    """Run a scenario on `trace.swf` in the folder."""
    scenario = folder / "scenario.yaml"
    scenario.write_text(SCENARIO.format(settings=settings, unit=unit))
    return main(["run", str(scenario), "--out", str(folder / "out")])


def said_once(capsys: pytest.CaptureFixture[str]) -> str:
    """Return the one line on standard error; there is no more, and no traceback."""
    captured = capsys.readouterr()
    (line,) = captured.err.splitlines()
    assert "Traceback" not in captured.out
    assert "internal error" not in line
    return line


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_bad_log_has_its_message(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The message names file, line and rule, says what was expected, and is all there is."""
    line, settings, rule, message = KINDS[kind]
    trace = tmp_path / "trace.swf"
    trace.write_text(f"{GOOD}\n{line}\n")
    assert run(tmp_path, settings) == 1
    said = said_once(capsys)
    assert said.startswith(f"{trace}:2: error: ")
    assert message in said
    assert said.endswith(f"[{rule}]")


@pytest.mark.parametrize("policy", ["malformed", "missing_memory", "unsorted"])
def test_the_message_names_a_way_out(
    policy: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What a message says of a policy works: with `skip` the log is read to its end."""
    lines = {
        "malformed": record(2, ask="0"),
        "missing_memory": record(2, memory=0),
        "unsorted": record(2, 5),
    }
    (tmp_path / "trace.swf").write_text(f"{GOOD}\n{lines[policy]}\n")
    assert run(tmp_path) == 1
    assert f"the policy {policy!r} of the trace source says what else to do" in said_once(capsys)
    (tmp_path / "out").rename(tmp_path / "first")
    assert run(tmp_path, f", {policy}: skip") == 0


def test_binary(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file that is no text is refused."""
    (tmp_path / "trace.swf").write_bytes(bytes(range(256)).replace(b"\n", b"") * 3)
    assert run(tmp_path) == 1
    assert said_once(capsys).startswith(f"{tmp_path / 'trace.swf'}:1: error: expected 21 fields")


@pytest.mark.parametrize("keep", [0.01, 0.5, 0.99])
def test_a_cut_off_gzip_file_is_called_damaged(
    keep: float, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The message says after which line the damage is."""
    lines = [record(n, 1_357_000_000 + n, memory=GIB + n * 7919 % 10**6) for n in range(2000)]
    packed = gzip.compress("\n".join(lines).encode())
    (tmp_path / "trace.swf").write_bytes(packed[: int(len(packed) * keep)])
    assert run(tmp_path) == 1
    said = said_once(capsys)
    assert said.startswith(f"{tmp_path / 'trace.swf'}:")
    assert said.endswith("[damaged-trace]")


def test_a_changed_gzip_file_is_called_damaged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A flipped byte does not go through as data, even where every record is skipped."""
    packed = bytearray(gzip.compress("\n".join([GOOD] * 5000).encode(), mtime=0))
    packed[-6] ^= 0xFF
    (tmp_path / "trace.swf").write_bytes(bytes(packed))
    assert run(tmp_path, ", malformed: skip") == 1
    assert said_once(capsys).endswith("[damaged-trace]")


def test_an_empty_file_is_a_log_of_no_jobs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As with `swf`, nothing is read, nothing is run, and that is said."""
    (tmp_path / "trace.swf").write_text("")
    assert run(tmp_path) == 0
    captured = capsys.readouterr()
    assert "0 records read, 0 jobs submitted" in captured.out
    assert captured.err == ""


def test_a_missing_log_is_named_at_its_place_in_the_scenario(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The place is that of the path in the scenario."""
    assert run(tmp_path) == 1
    said = said_once(capsys)
    assert said.startswith(f"{tmp_path / 'scenario.yaml'}:7:29: error: ")
    assert "there is no file" in said


def test_a_folder_is_no_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder in the log's place gives one message."""
    (tmp_path / "trace.swf").mkdir()
    assert run(tmp_path) == 1
    assert said_once(capsys).endswith("[not-a-file]")


@pytest.mark.parametrize("lacking", ["mem", "core"])
def test_a_system_without_what_requests_are_about(
    lacking: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A system without core or mem is refused before anything is run."""
    trace = tmp_path / "trace.swf"
    trace.write_text(f"{GOOD}\n")
    scenario = tmp_path / "scenario.yaml"
    scenario.write_text(
        SCENARIO.format(settings="", unit="1MiB").replace(f"{lacking}: ", f"other_{lacking}: ")
    )
    assert main(["run", str(scenario), "--out", str(tmp_path / "out")]) == 1
    said = said_once(capsys)
    assert f"a unit asks for {lacking}, which no node group has; there are" in said
    assert said.startswith(f"{scenario}:3:3: error: system: ")
    assert said.endswith("[unknown-resource-type]")
    assert not (tmp_path / "out").exists()


def test_an_unknown_group_in_properties(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The message names the property, the group, and what groups there are."""
    (tmp_path / "trace.swf").write_text(f"{GOOD}\n")
    assert run(tmp_path, ", properties: {fast: [b], brno: [a, bb]}") == 1
    said = said_once(capsys)
    assert "trace.properties.brno: there is no node group 'bb' that could have the property" in said
    assert "there are: a, b " in said
    assert said.endswith("[unknown-node-group]")


def test_a_request_that_units_keep_off_every_node(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The message names the line, also of a job that is bound to nodes which are too small then."""
    trace = tmp_path / "trace.swf"
    trace.write_text(f"{GOOD}\n; 7 GiB units\n{record(2, memory=24 * GIB, ask='1:cl_a')}\n")
    assert run(tmp_path, unit="7GiB") == 1
    said = said_once(capsys)
    assert said.startswith(f"{trace}:3: error: a node could hold what a unit asks for")
    assert said.endswith("[lost-to-units]")


@pytest.mark.parametrize("mapping", ["as_requested", "one_each"])
def test_huge_requests_are_no_crash(
    mapping: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The largest amounts that a record can ask for are larger than the system, and no more."""
    asks = "1000000000:ppn=1000000000", "1:mem=8192tb", "1:ppn=1000000000"
    lines = [record(n, ask=ask, memory=2**53) for n, ask in enumerate(asks)]
    (tmp_path / "trace.swf").write_text("\n".join([*lines, record(9)]))
    assert run(tmp_path, f", mapping: {mapping}", unit="1") == 0
    captured = capsys.readouterr()
    (warning,) = captured.err.splitlines()
    assert "3 of 4 records ask for more than the whole system" in warning
    assert "4 records read" in captured.out
