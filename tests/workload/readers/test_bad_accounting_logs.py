"""An accounting log that cannot be used ends `hpcsched run` with one message, exit 1."""

import gzip
from pathlib import Path

import pytest

from hpcsched.cli import main
from tests.workload.readers.accounting_log_files import (
    HEADER,
    pbs_record,
    sacct_row,
)

SCENARIO = """\
name: bad-log
system:
  groups:
    - {{name: node, count: 4, resources: {{core: 16, mem: 64GiB}}}}
trace: {{source: {source}, path: log{settings}}}
dispatcher: easy
"""
ZONE = ", time_zone: UTC"
SACCT = f"{HEADER}\n{sacct_row('1')}\n"
PBS = f"{pbs_record('1')}\n{pbs_record('2')}\n"

# What is wrong with a dump: its bytes, settings, the line, the rule, and a part of the message.
DUMPS = {
    "empty": (b"", ZONE, 1, "missing-columns", "first, found nothing"),
    "only blank lines": (b"\n \n", ZONE, 1, "missing-columns", "first, found nothing"),
    "a table for people": (
        b"JobID    JobName  Partition\n------ ------- -----\n1 a b\n", ZONE, 1, "missing-columns",
        "no column JobID, Submit, Start, End, NCPUS, NNodes; expected what `sacct --parsable2",
    ),
    "lacking columns": (
        b"JobID|Start|NNodes\n", ZONE, 1, "missing-columns", "no column Submit, End, NCPUS;",
    ),
    "binary": (
        b"\0\1\2" * 99, ZONE, 1, "missing-columns", "the dump has no column JobID",
    ),
    "UTF-16": (SACCT.encode("utf-16"), ZONE, None, "no-text", "found UTF-16"),
    "cut off": (
        f"{SACCT}{sacct_row('2')[:40]}".encode(), ZONE, 3, "malformed",
        "expected 15 columns with '|' between them, found 3",
    ),
    "no line ends": (b"x" * 2**21, ZONE, 1, "no-text", "found a line of 1048576 bytes or more"),
    "no time zone": (SACCT.encode(), "", 2, "missing-time-zone", "is a local time: expected"),
    "another time zone": (
        f"{SACCT}{sacct_row('2', Start='2024-03-10T02:30:00')}".encode(),
        ", time_zone: America/New_York", 3, "malformed", "is it the time zone of the log?",
    ),
    "a date that is none": (
        f"{HEADER}\n{sacct_row('2', Submit='2024-02-30T02:30:00')}".encode(), ZONE, 2, "malformed",
        "'2024-02-30T02:30:00' is no time: day is out of range",
    ),
    "a time that is none": (
        f"{HEADER}\n{sacct_row('2', Submit='yesterday')}".encode(), ZONE, 2, "malformed",
        "expected a time such as 2024-03-01T12:00:00, found 'yesterday'",
    ),
    "before 1970": (
        f"{HEADER}\n{sacct_row('2', Submit='1969-02-20T02:30:00')}".encode(), ZONE, 2, "malformed",
        "expected a time from 1970 on",
    ),
    "a job id that is none": (
        f"{HEADER}\n{sacct_row('x')}".encode(), ZONE, 2, "malformed",
        "expected a job id such as 123, 123_4 or 123+1, found 'x'",
    ),
    "a huge array": (
        f"{HEADER}\n{sacct_row('1_9999999')}".encode(), ZONE, 2, "malformed", "below 4000001",
    ),
    "a memory that is none": (
        f"{HEADER}\n{sacct_row('2', ReqMem='lots')}".encode(), ZONE, 2, "malformed",
        "expected an amount of memory such as 4000M or 16G, found 'lots'",
    ),
    "more memory than there is": (
        f"{HEADER}\n{sacct_row('2', ReqMem='9999Ec')}".encode(), ZONE, 2, "malformed",
        "expected at most",
    ),
    "no CPUs": (
        f"{HEADER}\n{sacct_row('2', NCPUS='0')}".encode(), ZONE, 2, "malformed",
        "expected a number of CPUs from 1 on",
    ),
    "no nodes": (
        f"{HEADER}\n{sacct_row('2', NNodes='')}".encode(), ZONE, 2, "malformed",
        "expected a number of nodes from 1 on",
    ),
    "a TRES that is none": (
        f"{HEADER}\n{sacct_row('2', AllocTRES='cpu')}".encode(), ZONE, 2, "malformed",
        "expected amounts such as cpu=8,mem=32G, found 'cpu'",
    ),
    "a requeued job": (
        f"{SACCT}{sacct_row('1')}".encode(), ZONE, 3, "duplicate",
        "there was a record of job 1 before",
    ),
    "no limit": (
        f"{HEADER}\n{sacct_row('2', Timelimit='UNLIMITED')}".encode(), ZONE, 2,
        "missing-requested-time", "no requested time is given",
    ),
    "GPUs on nodes without": (
        f"{HEADER}\n{sacct_row('2', AllocTRES='gres/gpu=1')}".encode(), ZONE, 2,
        "unknown-resource-type", "asks for gpu, which no node group has; there are: core, mem",
    ),
}  # fmt: skip

LOGS = {
    "empty": (b"", "", 1, "empty-trace", "the log has no records"),
    "binary": (b"\0\1\2" * 99, "", 1, "malformed", "expected a record such as"),
    "UTF-16": (PBS.encode("utf-16"), "", None, "no-text", "found UTF-16"),
    "cut off": (
        f"{PBS}{pbs_record('3')[:80]}".encode(), "", 3, "malformed", "expected end= with a Unix",
    ),
    "another log": (b"2024-03-01 host pbs: hello\n", "", 1, "malformed", "expected a record"),
    "a job id that is none": (
        pbs_record("x").encode(), "", 1, "malformed", "expected a job id such as 123.server",
    ),
    "no request": (
        pbs_record("3", Resource_List_select="").encode(), "", 1, "malformed",
        "expected Resource_List.select, Resource_List.nodes or Resource_List.ncpus",
    ),
    "a select that is none": (
        pbs_record("3", Resource_List_select="lots").encode(), "", 1, "malformed",
        "expected chunks such as 2:ncpus=8, found 'lots'",
    ),
    "no chunks": (
        pbs_record("3", Resource_List_select="0:ncpus=8").encode(), "", 1, "malformed",
        "expected chunks such as 2:ncpus=8",
    ),
    "a number that is none": (
        pbs_record("3", Resource_List_select="1:ncpus=x").encode(), "", 1, "malformed",
        "expected a number of ncpus, found 'x'",
    ),
    "a walltime that is none": (
        pbs_record("3", Resource_List_walltime="1h").encode(), "", 1, "malformed",
        "expected a time such as 12:00:00, found '1h'",
    ),
    "an end before the start": (
        pbs_record("3", end="1").encode(), "", 1, "malformed", "the job ends before it starts",
    ),
    "words without a name": (
        b"03/01/2024 10:00:00;E;1.srv;hello user=alice", "", 1, "malformed",
        "expected attributes such as user=",
    ),
    "unlike chunks": (
        pbs_record("3", Resource_List_select="ncpus=1+ncpus=2").encode(), ", unlike_chunks: error",
        1, "unlike-chunks", "asks for chunks that are unlike",
    ),
    "no memory": (
        pbs_record("3", Resource_List_select="ncpus=1").encode(), ", missing_memory: error", 1,
        "missing-memory", "no memory is given",
    ),
    "nothing that nodes have": (
        pbs_record("3", Resource_List_select="ngpus=1").encode(),
        ", resource_types: {ncpus: null, ngpus: null}", 1, "malformed",
        "expected a job to ask for cores or devices",
    ),
    "uneven nodes": (
        pbs_record(
            "3", Resource_List_select="", Resource_List_ncpus="3", Resource_List_nodect="2"
        ).encode(),
        ", uneven_nodes: error", 1, "uneven-nodes", "3 core cannot be shared equally among 2 nodes",
    ),
}  # fmt: skip
CASES = [("slurm-sacct", kind, *DUMPS[kind]) for kind in DUMPS]
CASES += [("pbs-accounting", kind, *LOGS[kind]) for kind in LOGS]


def run(folder: Path, source: str, settings: str = "") -> int:
    """Run a scenario on `log` in the folder."""
    scenario = folder / "scenario.yaml"
    scenario.write_text(SCENARIO.format(source=source, settings=settings))
    return main(["run", str(scenario), "--out", str(folder / "out")])


def said_once(capsys: pytest.CaptureFixture[str]) -> str:
    """Return the one line on standard error; there is no more, and no traceback."""
    captured = capsys.readouterr()
    (line,) = captured.err.splitlines()
    assert "Traceback" not in captured.out
    assert "internal error" not in line
    return line


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}: {case[1]}")
def test_each_kind_of_bad_log_has_its_message(
    case: tuple[str, str, bytes, str, int | None, str, str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The message names file, line and rule, says what was expected, and is all there is."""
    source, _, content, settings, line, rule, message = case
    (tmp_path / "log").write_bytes(content)
    assert run(tmp_path, source, settings) == 1
    said = said_once(capsys)
    place = tmp_path / "log" if line is None else f"{tmp_path / 'log'}:{line}"
    assert said.startswith(f"{place}: error: ")
    assert message in said
    assert said.endswith(f"[{rule}]")


@pytest.mark.parametrize(("source", "content"), [("slurm-sacct", SACCT), ("pbs-accounting", PBS)])
def test_a_cut_off_gzip_file_is_called_damaged(
    source: str, content: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The message says after which line the damage is."""
    packed = gzip.compress((content + "\n" * 9000).encode())
    (tmp_path / "log").write_bytes(packed[:-20])
    assert run(tmp_path, source, ZONE if source == "slurm-sacct" else "") == 1
    said = said_once(capsys)
    assert said.startswith(f"{tmp_path / 'log'}:")
    assert said.endswith("[damaged-trace]")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (", time_zone: Europe/Atlantis", "expected a time zone such as Europe/Prague or UTC"),
        (", time_zone: ../../etc/passwd", "expected a time zone such as Europe/Prague or UTC"),
        (", resource_types: {gpus: gpu}", "expected cpu, mem or gres/NAME, found 'gpus'"),
        (", resource_types: {cpu: Core}", "expected a resource type such as gpu, found 'Core'"),
    ],
)
def test_settings_that_are_none(
    settings: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """They are named at their place in the scenario."""
    (tmp_path / "log").write_text(SACCT)
    assert run(tmp_path, "slurm-sacct", settings) == 1
    said = said_once(capsys)
    assert said.startswith(f"{tmp_path / 'scenario.yaml'}:5:")
    assert message in said


@pytest.mark.parametrize("source", ["slurm-sacct", "pbs-accounting"])
def test_a_missing_log(source: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The place is that of the path in the scenario."""
    assert run(tmp_path, source) == 1
    said = said_once(capsys)
    assert said.startswith(f"{tmp_path / 'scenario.yaml'}:5:")
    assert "there is no file" in said
