"""Lines of files in the Standard Workload Format, by hand."""

import gzip
from pathlib import Path

import pytest

from hpcsched.errors import InputError
from hpcsched.workload.readers.swf_lines import PIECE, SwfLines, wait_time


def test_comments_and_records(tmp_path: Path) -> None:
    """Lines keep their numbers; only comments before the first record belong to the header."""
    path = tmp_path / "log.swf"
    record = b"1 " * 18
    path.write_bytes(b"; A: 1\n\n;B\n%b\n; later\n3 4" % record)
    lines = SwfLines(path)
    assert lines.fraction_read == 0
    assert list(lines.records()) == [(4, record), (6, b"3 4")]
    assert lines.comments == ["A: 1", "B"]
    assert lines.fraction_read == 1


def test_a_line_that_is_longer_than_a_piece(tmp_path: Path) -> None:
    """A line goes on over the ends of pieces, in a packed file as well."""
    path = tmp_path / "log.swf"
    long = b"1" * (2 * PIECE + 5)
    path.write_bytes(gzip.compress(long + b"\n2"))
    assert list(SwfLines(path).records()) == [(1, long), (2, b"2")]


def test_damage_is_told_with_its_line(tmp_path: Path) -> None:
    """Of a packed file that breaks off after two lines, both are read."""
    path = tmp_path / "log.swf"
    path.write_bytes(gzip.compress(b"1\n2\n")[:-8])
    numbers = []
    with pytest.raises(InputError) as caught:
        numbers += [number for number, _ in SwfLines(path).records()]
    (finding,) = caught.value.findings
    assert finding.rule == "damaged-trace"
    assert finding.place.line == 2


def test_no_file(tmp_path: Path) -> None:
    """The path is named, with the system's reason."""
    with pytest.raises(InputError) as caught:
        next(SwfLines(tmp_path / "none.swf").records())
    (finding,) = caught.value.findings
    assert finding.message == "the trace cannot be read: No such file or directory"
    assert finding.place.file == str(tmp_path / "none.swf")


def test_wait_times() -> None:
    """Field 3, rounded up; what is no number is not given."""
    assert wait_time(b"1 0 30 40 -1") == 30
    assert wait_time(b"1 0 -1 40 -1") == -1
    assert wait_time(b"1 0 3.5 40") == 4
    assert wait_time(b"1 0 x 40") == -1
