"""Logs are recognised by their content, whatever their names are."""

import gzip
import tarfile
from pathlib import Path

import pytest

from hpcsched.errors import InputError
from hpcsched.workload import log_recognition as found
from hpcsched.workload.presets.preset_catalogue import find_preset
from tests.studies import first_look_samples as samples
from tests.workload.presets.samples import WRITERS


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (samples.SWF, found.SWF),
        (samples.RECORDS, found.SWF),
        ("; a header alone\n" * 9000, found.SWF),
        ("\n\n" + samples.RECORDS.replace("\n", " 4 1024\n"), found.SWF),
        ("; JobNames: last\n" + samples.RECORDS.replace("\n", " día\n"), found.SWF),
        (samples.RECORDS.replace("\n", " día\n"), None),
        (samples.SACCT, found.SACCT),
        (samples.PBS, found.PBS),
        (samples.BATSIM, found.BATSIM),
        (samples.TABLE, found.TABLE),
        (samples.SCENARIO, None),
        ("# A page\n\nwith words, commas, and more: text\n", None),
        ('{"version": 2}', None),
        ("1 2 3\n", None),
        ("", None),
    ],
)
def test_by_content(
    tmp_path: Path, text: str, expected: found.LogFormat | None, *, packed: bool
) -> None:
    """Plain or packed."""
    assert found.recognised(samples.written(tmp_path, text, packed=packed)) == expected


ODD = {
    "dashes": "1 - - 60 2 - - 2 90 - 1 1 1 1 1 1 - -",
    "nan": "1 0 nan 60 2 -1 -1 2 nan -1 1 1 1 1 1 1 -1 -1",
    "five fields": "1 0 0 60 2",
    "a remark": "this log was cut by hand, see below",
    "a row of names": "job submit wait run procs cpu mem reqprocs reqtime",
    "a name": "1 0 0 60 2 -1 -1 2 90 -1 1 1 1 1 1 1 -1 -1 my_job",
    "a cut line": "60 2 -1 -1 2 90 -1 1 1 1 1 1 1 -1 -1",
}


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (samples.RECORDS, found.SWF),
        (samples.SWF, found.SWF),
        (samples.HEADER + samples.RECORDS.splitlines()[0] + "\n", found.SWF),
        (samples.PBS, found.PBS),
        (samples.ALEA * 3, found.ALEA),
        (samples.HEADER + samples.ALEA * 3, found.ALEA),
    ],
)
def test_one_odd_record(tmp_path: Path, odd: str, text: str, expected: found.LogFormat) -> None:
    """The header and most of the first records decide, not the first."""
    comments = "".join(line for line in text.splitlines(True) if line.startswith(";"))
    log = f"{comments}{odd}\n{text.removeprefix(comments)}"
    assert found.recognised(samples.written(tmp_path, log)) == expected
    assert found.recognised(samples.written(tmp_path, f"{odd}\n{text}")) == expected


def test_a_header_above_odd_records(tmp_path: Path) -> None:
    """The names of the Standard Workload Format decide where no record does."""
    log = samples.written(tmp_path, samples.HEADER + "1 0 x\n2 0 y\n3 0 z\n")
    assert found.recognised(log) == found.SWF
    assert found.recognised(samples.written(tmp_path, "; a remark\n1 0 x\n2 0 y\n")) is None


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1"])
@pytest.mark.parametrize("packed", [False, True])
def test_other_encodings(tmp_path: Path, encoding: str, *, packed: bool) -> None:
    """A letter beyond ASCII changes nothing."""
    data = samples.SACCT.replace("anna", "día").encode(encoding)
    path = tmp_path / "log"
    path.write_bytes(gzip.compress(data) if packed else data)
    assert found.recognised(path) == found.SACCT


def test_parquet(tmp_path: Path) -> None:
    """A table by its first bytes."""
    path = tmp_path / "jobs"
    path.write_bytes(b"PAR1\x00\xff")
    assert found.recognised(path) == found.TABLE


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (samples.SCENARIO, "expected a log of a known format.*; it is none of these"),
        ("", "expected a log of a known format.*; the file is empty"),
        (
            samples.TABLE,
            "the columns job_id, submit, run, of no known data set.*columns: {job",
        ),
        (samples.TABLE.replace(",", ";"), 'columns job_id, submit, run,.*delimiter: ";", columns'),
        (samples.TABLE.replace(",", "\t"), r'columns job_id, submit, run,.*delimiter: "\\t", colu'),
        (samples.ALEA, "a scenario with the trace source 'alea' describes these"),
    ],
)
def test_what_no_scenario_can_be_made_for(tmp_path: Path, text: str, message: str) -> None:
    """It is told what is known, or what is needed."""
    with pytest.raises(InputError, match=message):
        found.format_of_log(samples.written(tmp_path, text))


def test_what_else_of_slurm_it_is(tmp_path: Path) -> None:
    """Output of sacct in another form, and other files of Slurm: the message says what to do."""
    path = tmp_path / "log"
    path.write_text("JobID;Submit;Start;End;NCPUS;NNodes\n")
    assert found.recognised(path) == found.SACCT
    for text, told in (
        ("17|2024-03-01T10:00:00|1|1\n", "call sacct without --noheader"),
        ("JobID    JobName  State\n", "add --parsable2"),
        ("JobId=5 UserId=ann(1001) \n", "which the trace source slurm-history"),
        ('{"jobs": [{"account": "a", "association": {}', "it is JSON, which the trace source"),
    ):
        path.write_text(text)
        with pytest.raises(InputError, match=told):
            found.format_of_log(path)


def test_a_tar_archive(tmp_path: Path) -> None:
    """It may hold several files, also if it is compressed."""
    log = samples.written(tmp_path, samples.SWF, "log.swf")
    with tarfile.open(tmp_path / "log.tar.gz", "w:gz") as archive:
        archive.add(log)
    with pytest.raises(InputError, match="it is a tar archive, unpack it first"):
        found.format_of_log(tmp_path / "log.tar.gz")


def test_folders(tmp_path: Path) -> None:
    """A folder of daily files is a log of PBS; a log in another format is one file."""
    for name, text in (("pbs", samples.PBS), ("swf", samples.SWF)):
        (tmp_path / name).mkdir()
        samples.written(tmp_path / name, text, "20240304")
    assert found.format_of_log(tmp_path / "pbs") == found.PBS
    with pytest.raises(InputError, match=r"expected a file of the format .*, found a folder"):
        found.format_of_log(tmp_path / "swf")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="the folder holds no file"):
        found.format_of_log(tmp_path / "empty")


def test_a_file_that_is_damaged(tmp_path: Path) -> None:
    """It is named."""
    path = samples.written(tmp_path, samples.SWF, packed=True)
    path.write_bytes(path.read_bytes()[:40])
    with pytest.raises(InputError, match="log: error: expected a whole compressed file"):
        found.recognised(path)


def test_a_log_where_a_scenario_is_expected(tmp_path: Path) -> None:
    """The command that replays it is told; other files are left to the reader of scenarios."""
    log = samples.written(tmp_path, samples.SWF, "log.swf")
    with pytest.raises(InputError, match=r"'hpcsched try .*log\.swf' replays it"):
        found.refuse_log(log)
    found.refuse_log(samples.written(tmp_path, samples.SCENARIO, "scenario.txt"))
    found.refuse_log(samples.written(tmp_path, samples.SWF, "named.yaml"))
    found.refuse_log(tmp_path / "missing.swf")


@pytest.mark.parametrize("name", [name for name in WRITERS if name != "pai"])
def test_known_data_sets(tmp_path: Path, name: str) -> None:
    """By their columns, also in a folder."""
    preset = find_preset(name)
    known = found.of_preset(preset)
    path = WRITERS[name](tmp_path)
    assert found.recognised(path) == known == found.format_of_log(path)
    assert known == ("table", preset.title, name)
    if name != "philly":
        assert found.recognised(tmp_path) == known


def test_a_preset_that_is_named(tmp_path: Path) -> None:
    """The content is not looked at."""
    path = WRITERS["pai"](tmp_path)
    assert found.recognised(path) == found.TABLE
    assert found.format_of_log(path, "pai").preset == "pai"
    with pytest.raises(InputError, match="--preset: there is no preset 'pa'; did you mean 'pai'"):
        found.format_of_log(path, "pa")
    (tmp_path / "odd.csv").write_text("a,b,a\n")
    assert found.recognised(tmp_path / "odd.csv") == found.TABLE
