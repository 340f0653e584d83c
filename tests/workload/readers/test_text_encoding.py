"""Encodings of logs, in every reader of text alike."""

import bz2
import gzip
import io
import json
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import ValidationError

import hpcsched
from hpcsched import cli
from hpcsched.workload.readers.policies import RecordPolicies, UnusableError
from hpcsched.workload.readers.swf_lines import SwfLines
from hpcsched.workload.readers.text_files import MARK, TextEncoding
from tests.workload.readers.accounting_log_files import pbs_record

SWF = (
    "; JobNames: last\n"
    "1 0 -1 60 1 -1 -1 1 90 -1 1 1 1 1 1 1 -1 -1 one\n"
    "2 5 -1 60 1 -1 -1 1 90 -1 1 1 1 1 1 1 -1 -1 día\n"
)
LOGS = {
    "swf": SWF,
    "table": "submit_time,run_time,units,requested_time,name\n0,60,1,90,one\n5,60,1,90,día\n",
    "slurm-sacct": "JobID|Submit|Start|End|Timelimit|NNodes|NCPUS|JobName\n"
    "1|100|100|160|1|1|1|one\n2|105|105|165|1|1|1|día\n",
    "pbs-accounting": pbs_record("1", Resource_List_select="1:ncpus=1")
    + "\n"
    + pbs_record("2", Resource_List_select="1:ncpus=1", jobname="día"),
    "batsim": '{"jobs": [\n{"id": 1, "subtime": 0, "walltime": 90, "res": 1, "profile": "d"},\n'
    '{"id": 2, "subtime": 5, "walltime": 90, "res": 1, "profile": "d", "name": "día"}],\n'
    '"profiles": {"d": {"type": "delay", "delay": 60}}}\n',
}
"""A log of two jobs by source; the name of the second is not ASCII."""


def scenario(folder: Path, source: str, log: bytes, trace: str = "") -> Path:
    """Write a log and a scenario that reads it."""
    (folder / "log").write_bytes(log)
    path = folder / "scenario.yaml"
    path.write_text(
        "name: encodings\n"
        "system: {groups: [{name: node, count: 2, resources: {core: 8}}]}\n"
        f"trace: {{source: {source}, path: log{trace}}}\n"
        "dispatcher: easy\n"
    )
    return path


def run(path: Path) -> int:
    """Return the exit code of a run."""
    return cli.main(["run", str(path), "--out", str(path.parent / "run"), "--force"])


@pytest.mark.parametrize("source", LOGS)
def test_a_log_in_latin_1(source: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is refused with its line and the key that settles it, which then does."""
    text = LOGS[source]
    log = text.encode("latin-1")
    line = text[: text.index("í")].count("\n") + 1
    assert run(scenario(tmp_path, source, log)) == 1
    said = capsys.readouterr().err.splitlines()[0]
    assert said.startswith(f"{tmp_path / 'log'}:{line}: error: expected utf-8 text, found ")
    assert "'encoding' of the trace source names the encoding of the log, such as latin-1" in said
    assert said.endswith("[undecodable]")
    for trace, account in (
        (", encoding: latin-1", ["2 records read, 2 jobs submitted: 2 completed"]),
        (
            ", undecodable: skip",
            ["2 records read, 1 jobs submitted: 1 completed", "  1 skipped: undecodable"],
        ),
        (
            ", undecodable: replace",
            ["2 records read, 2 jobs submitted: 2 completed", "  1 clipped: undecodable"],
        ),
    ):
        assert run(scenario(tmp_path, source, log, trace)) == 0
        assert capsys.readouterr().out.splitlines()[: len(account)] == account


@pytest.mark.parametrize("source", LOGS)
@pytest.mark.parametrize("packed", [False, True])
def test_a_log_in_utf_16(
    source: str, packed: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two bytes a letter are read too, plain and gzip."""
    log = LOGS[source].encode("utf-16")
    path = scenario(tmp_path, source, gzip.compress(log) if packed else log)
    assert run(path) == 1
    assert "'encoding: utf-16' of the trace source reads it" in capsys.readouterr().err
    assert run(scenario(tmp_path, source, log, ", encoding: utf-16")) == 0
    assert "2 records read, 2 jobs submitted" in capsys.readouterr().out


@pytest.mark.parametrize("source", LOGS)
def test_no_utf_16(source: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A log that has no mark of UTF-16 cannot be read as such, and no plugin is to blame."""
    path = scenario(tmp_path, source, b"one\n", ", encoding: utf-16")
    assert run(path) == 1
    said = f"{tmp_path / 'log'}:1: error: expected utf-16 text, found other bytes"
    assert capsys.readouterr().err.startswith(said)


def test_names_are_read_in_the_encoding(tmp_path: Path) -> None:
    """The name of a job in Latin-1 is the one that the log means."""
    path = scenario(tmp_path, "swf", SWF.encode("latin-1"), ", encoding: latin-1")
    result = hpcsched.run(path, tmp_path / "run")
    assert result.jobs["name"].to_pylist() == ["one", "día"]


def test_statistics_count_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`trace info` has a row for what was replaced."""
    path = scenario(tmp_path, "swf", SWF.encode("latin-1"), ", undecodable: replace")
    assert cli.main(["trace", "info", str(path)]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["clipped:", "undecodable", "1"] in rows


def test_comments_are_no_records(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The name of a person in a header keeps no log from being read."""
    log = f"; Conversion: Dror é\n{SWF.replace('í', 'i')}".encode("latin-1")
    assert run(scenario(tmp_path, "swf", log)) == 0
    assert "2 jobs submitted" in capsys.readouterr().out


def test_an_encoding_that_there_is_not() -> None:
    """Names that Python does not know, and those of no text."""
    for name in ("latin-99", "rot13", "", "a\0"):
        with pytest.raises(ValidationError, match="expected an encoding of text such as utf-8"):
            RecordPolicies(path="log", encoding=name)
    assert RecordPolicies(path="log", encoding="cp037").encoding == "cp037"


def test_lines() -> None:
    """0xe9 is é in Latin-1, and the beginning of a letter of three bytes in UTF-8."""
    assert TextEncoding("latin-1").utf8(b"\xe9") == "é".encode()
    assert TextEncoding().utf8("é".encode()) == "é".encode()
    with pytest.raises(UnusableError, match="expected utf-8 text, found the byte 0xe9") as caught:
        TextEncoding().utf8(b"a\xe9b")
    assert caught.value.reason == "undecodable"
    replacing = TextEncoding("utf-8", "replace")
    assert (replacing.utf8(b"a\xe9b"), replacing.replaced) == ("a\ufffdb".encode(), True)


def test_undecodable_bytes_of_utf_16() -> None:
    """The first half of a pair, alone: the line around it is marked, and the next one is whole."""
    data = "a\n".encode("utf-16-le") + b"\x00\xd8" + "b\nc\n".encode("utf-16-le")
    encoding = TextEncoding("utf-16-le")
    first, second, third = encoding.stream(io.BytesIO(data)).readlines()
    assert (first, third) == (b"a\n", b"c\n")
    with pytest.raises(UnusableError):
        encoding.utf8(second)
    assert encoding.marked(b'"\xff"') == f'"{MARK}"'


def test_a_mark_in_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A surrogate that JSON escapes is a letter of the file, not an undecodable byte."""
    job = {"id": 1, "subtime": 0, "walltime": 90, "res": 1, "profile": "d", "name": MARK}
    content = {"jobs": [job], "profiles": {"d": {"type": "delay", "delay": 60}}}
    assert run(scenario(tmp_path, "batsim", json.dumps(content).encode())) == 0
    assert "1 jobs submitted" in capsys.readouterr().out


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_carriage_returns_end_lines(
    tmp_path: Path, pack: Callable[[bytes], bytes], encoding: str
) -> None:
    """A file of an old system has its lines, and their numbers; other returns are no line ends."""
    path = tmp_path / "log"
    path.write_bytes(pack("; A: 1\r\r1 2\r3 4".encode(encoding)))
    lines = SwfLines(path, TextEncoding(encoding))
    assert list(lines.records()) == [(3, b"1 2"), (4, b"3 4")]
    assert lines.comments == ["A: 1"]
    path.write_bytes(pack("1 2\r\n3\r4".encode(encoding)))
    assert list(SwfLines(path, TextEncoding(encoding)).records()) == [(1, b"1 2\r"), (2, b"3\r4")]
