"""Lines of text logs, of a file and of a folder, by hand."""

import gzip
from pathlib import Path

import pytest

from hpcsched.errors import InputError
from hpcsched.workload.readers.text_files import LONGEST, TextLines


def finding_of(path: Path):
    """Return the finding with which reading ends."""
    with pytest.raises(InputError) as caught:
        list(TextLines(path).records())
    (finding,) = caught.value.findings
    return finding


def test_files_of_a_folder(tmp_path: Path) -> None:
    """By name, hidden ones left out; line numbers begin anew, and the path is that of the file."""
    (tmp_path / "b").write_bytes(b"3\n")
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"1\n\n2\n"))
    (tmp_path / ".hidden").write_bytes(b"9\n")
    (tmp_path / "folder").mkdir()
    lines = TextLines(tmp_path)
    found = [(lines.path.name, number, line) for number, line in lines.records()]
    assert found == [("a.gz", 1, "1"), ("a.gz", 3, "2"), ("b", 1, "3")]
    assert lines.fraction_read == 1


def test_a_byte_order_mark_is_no_text(tmp_path: Path) -> None:
    """Editors of other systems put it before UTF-8; UTF-16 is refused."""
    path = tmp_path / "log"
    path.write_bytes(b"\xef\xbb\xbfa\n")
    assert list(TextLines(path).records()) == [(1, "a")]
    path.write_bytes("a\n".encode("utf-16"))
    finding = finding_of(path)
    assert finding.rule == "no-text"
    assert "found UTF-16; write it as UTF-8 first" in finding.message


def test_a_line_without_end(tmp_path: Path) -> None:
    """A binary file must not fill the memory: a line of 1 MiB is none."""
    path = tmp_path / "log"
    path.write_bytes(b"a\n" + b"x" * LONGEST)
    finding = finding_of(path)
    assert (finding.rule, finding.place.line) == ("no-text", 2)
    assert finding.message.endswith("found a line of 1048576 bytes or more")


def test_an_empty_folder(tmp_path: Path) -> None:
    """There is nothing to read, which is told with the folder."""
    finding = finding_of(tmp_path)
    assert (finding.rule, finding.place.file) == ("empty-trace", str(tmp_path))


def test_damage(tmp_path: Path) -> None:
    """A packed file that breaks off names the last line before."""
    path = tmp_path / "log"
    path.write_bytes(gzip.compress(b"1\n2\n")[:-8])
    finding = finding_of(path)
    assert (finding.rule, finding.place.line) == ("damaged-trace", 2)
