"""Workload files of Batsim: their jobs, header and places of errors, by hand."""

import gzip
from pathlib import Path

import pytest

from hpcsched.errors import InputError
from hpcsched.workload.readers.batsim import BatsimFile


def written(tmp_path: Path, text: str) -> Path:
    """Return the path of a file with this text."""
    path = tmp_path / "workload.json"
    path.write_text(text, encoding="utf-8")
    return path


def problem(tmp_path: Path, text: str) -> tuple[str, int | None, int | None]:
    """Return the message, line and column with which a text is refused."""
    with pytest.raises(InputError) as caught:
        BatsimFile(written(tmp_path, text))
    (finding,) = caught.value.findings
    assert finding.place is not None
    return finding.message, finding.place.line, finding.place.column


def test_jobs_and_the_lines_on_which_they_begin(tmp_path: Path) -> None:
    """Profiles may come after the jobs; what is beside the jobs is the header."""
    text = '{"nb_res": 4, "jobs": [\n{"id": 1},\n\n{"id":\n2}],\n"profiles": {"p": {}}}\n'
    file = BatsimFile(written(tmp_path, text))
    assert list(file.records()) == [(2, {"id": 1}), (4, {"id": 2})]
    assert file.header == {"nb_res": 4, "profiles": {"p": {}}}
    assert file.fraction_read == 1.0


def test_how_much_is_read(tmp_path: Path) -> None:
    """After the first of two jobs as far as its end: 20 of 46 characters."""
    text = '{"jobs": [{"id":  1},{"id": 2}],"profiles":{}}'
    file = BatsimFile(written(tmp_path, text))
    next(iter(file.records()))
    assert file.fraction_read == 20 / 46


def test_packed_with_a_description(tmp_path: Path) -> None:
    """The lines of the description are the comments of the trace."""
    path = tmp_path / "workload"
    path.write_bytes(gzip.compress(b'{"description": "a\\nb", "jobs": [], "profiles": {}}'))
    file = BatsimFile(path)
    assert file.comments == ["a", "b"]
    assert list(file.records()) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"jobs": [],\n "jobs": []}', ("the workload has the key 'jobs' twice", 2, 2)),
        ('{"jobs": [\n{"id": 1, "id": 2}]}', ("an object has the key 'id' twice", 2, 1)),
        ('{"jobs": [NaN]}', ("expected JSON, which has no NaN", 1, 11)),
        ('{"jobs": [1 2]}', ("expected ',' or ']' after a job", 1, 13)),
        ("[]", ("expected a workload, which begins with {", 1, 1)),
        ('{"jobs": {}}', ("expected a list of jobs", 1, 10)),
        ('{"jobs": [],}', ("expected a key after ','", 1, 13)),
        ('{"jobs": []', ("expected ',' or '}'; the file ends here", 1, 12)),
        ('{"profiles": {}}', ("the key 'jobs' is missing", None, None)),
        ('{"jobs": []}', ("the key 'profiles' is missing", None, None)),
        ('{"jobs": [], "profiles": []}', ("expected an object under 'profiles'", None, None)),
    ],
)
def test_what_is_no_workload(
    tmp_path: Path, text: str, expected: tuple[str, int | None, int | None]
) -> None:
    """The message has the line and column where something else was expected."""
    assert problem(tmp_path, text) == expected
