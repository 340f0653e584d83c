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
        list(BatsimFile(written(tmp_path, text)).records())
    (finding,) = caught.value.findings
    assert finding.place is not None
    return finding.message, finding.place.line, finding.place.column


def test_jobs_and_the_lines_on_which_they_begin(tmp_path: Path) -> None:
    """Profiles may come after the jobs, and have a key of the same name."""
    text = '{"nb_res": 4, "profiles": {"p": {"jobs": [3]}}, "jobs": [\n{"id": 1},\n\n{"id":\n2}]}\n'
    file = BatsimFile(written(tmp_path, text))
    assert list(file.records()) == [(2, {"id": 1}), (4, {"id": 2})]
    assert file.profiles == {"p": {"jobs": [3]}}
    assert file.fraction_read == 1.0


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
        ('{"jobs": [NaN]}', ("expected JSON: found NaN, which JSON has not", None, None)),
        ('{"jobs": [1\n 2]}', ("expected JSON: Expecting ',' delimiter", 2, 2)),
        ("[]", ("expected a workload, which begins with {", None, None)),
        ('{"jobs": {}}', ("expected a list under the key 'jobs'", None, None)),
        ('{"jobs": []', ("expected JSON: Expecting ',' delimiter", 1, 12)),
        ('{"profiles": {}}', ("expected a list under the key 'jobs'", None, None)),
        ('{"jobs": []}', ("expected a dict under the key 'profiles'", None, None)),
        (
            r'{"j\u006fbs": [1], "profiles": {}}',
            ("expected the key 'jobs' without escapes", None, None),
        ),
    ],
)
def test_what_is_no_workload(
    tmp_path: Path, text: str, expected: tuple[str, int | None, int | None]
) -> None:
    """The message has the line and column where something else was expected."""
    assert problem(tmp_path, text) == expected
