"""Lines of files in the Standard Workload Format, by hand."""

import gzip
from pathlib import Path

import pytest

from hpcsched.errors import InputError
from hpcsched.workload.readers import swf
from hpcsched.workload.readers.swf import SwfLines, wait_time


def test_comments_and_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only comments before the first record belong to the header; blocks are of whole lines."""
    monkeypatch.setattr(swf, "BLOCK", 3)
    path = tmp_path / "log.swf"
    path.write_bytes(gzip.compress(b"; A: 1\n\n;B\n1 2 3 4\n; later\n3 4"))
    lines = SwfLines(path)
    assert lines.fraction_read == 0
    assert list(lines.blocks()) == [(1, b"; A: 1\n\n;B\n1 2 3 4\n; later\n"), (6, b"3 4")]
    assert lines.comments == ["A: 1", "B"]
    assert lines.fraction_read == 1


def test_a_line_without_end(tmp_path: Path) -> None:
    """A binary file must not fill the memory."""
    path = tmp_path / "log.swf"
    path.write_bytes(b"1 2\n" + b"x" * 2**22)
    with pytest.raises(InputError, match=r"found a line of 1048576 bytes or more"):
        list(SwfLines(path).blocks())


def test_no_file(tmp_path: Path) -> None:
    """The path is named, with the system's reason."""
    with pytest.raises(InputError) as caught:
        next(SwfLines(tmp_path / "none.swf").blocks())
    (finding,) = caught.value.findings
    assert finding.message == "the trace cannot be read: No such file or directory"
    assert finding.place.file == str(tmp_path / "none.swf")


def test_wait_times() -> None:
    """Field 3, rounded up; what is no number is not given."""
    assert wait_time(b"1 0 30 40 -1") == 30
    assert wait_time(b"1 0 -1 40 -1") == -1
    assert wait_time(b"1 0 3.5 40") == 4
    assert wait_time(b"1 0 x 40") == -1
