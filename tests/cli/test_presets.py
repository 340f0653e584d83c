"""`hpcsched trace presets` tells of known data sets, and commands take files of them."""

import json
from pathlib import Path

import pytest

from hpcsched import cli
from hpcsched.cli.trace_commands import presets
from hpcsched.workload.presets.preset_catalogue import read_presets
from tests.workload.presets.samples import WRITERS


@pytest.fixture(autouse=True)
def _fake_plugins(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Work in a folder of its own, and leave the plugins as they are."""
    monkeypatch.chdir(tmp_path)


def test_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    """A line for each, and all that is known as JSON."""
    assert presets.__doc__
    assert cli.main(["trace", "presets"]) == 0
    lines = capsys.readouterr().out.splitlines()
    names = [line.split()[0] for line in lines[1:]]
    assert names == list(read_presets())
    assert cli.main(["trace", "presets", "--format", "json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert [one["name"] for one in content] == names
    assert cli.main(["trace", "presets", "--format", "csv"]) == 0


def test_one_preset(capsys: pytest.CaptureFixture[str]) -> None:
    """How to get it, whom to cite, on which terms, and what a scenario says."""
    assert cli.main(["trace", "presets", "f-data"]) == 0
    out = capsys.readouterr().out
    assert "page: https://doi.org/10.5281/zenodo.11467483\n" in out
    assert "  hpcsched trace fetch 23_07.parquet\n" in out
    assert "licence: CC BY 4.0\n" in out
    assert "columns: adt, sdt, edt, elpl, nnuma, usr, jnam, jid\n" in out
    assert out.endswith("trace: {source: table, preset: f-data, path: FILE}\n")
    assert cli.main(["trace", "presets", "f-data", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["trace"]["times"] == "iso"


def test_bad_requests(capsys: pytest.CaptureFixture[str]) -> None:
    """Another name, another format."""
    assert cli.main(["trace", "presets", "pm10"]) == 1
    assert "did you mean 'pm100'?" in capsys.readouterr().err
    assert cli.main(["trace", "presets", "pm100", "--format", "csv"]) == 2
    assert "text or json with a name" in capsys.readouterr().err


def test_statistics_of_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The data set is recognised; one without names of columns is named."""
    path = str(WRITERS["pm100"](tmp_path))
    assert cli.main(["trace", "info", path]) == 0
    out, err = capsys.readouterr()
    assert err.startswith(
        "jobs.parquet: PM100\nmachine: 3 nodes with 32 cores, 4 gpu each, assumed"
    )
    assert "skipped: not_ended" in out
    pai = str(WRITERS["pai"](tmp_path))
    assert cli.main(["trace", "info", pai, "--preset", "pai"]) == 0
    assert "gpu_percent" in capsys.readouterr().out
    assert cli.main(["trace", "info", pai, "--preset", "zzz"]) == 1
    assert "--preset: there is no preset 'zzz'" in capsys.readouterr().err


def test_try_and_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Dispatchers are compared on a file, and the scenarios run; waits are those of the log."""
    pai = WRITERS["pai"](tmp_path)
    out = tmp_path / "tried"
    given = ["try", str(pai), "--preset", "pai", "--dispatchers", "easy"]
    assert cli.main([*given, "--save", str(out)]) == 0
    assert "4 records read, 2 jobs submitted: 2 completed" in capsys.readouterr().out
    assert cli.main(["run", str(out / "easy.yaml"), "--out", str(tmp_path / "run")]) == 0
    assert cli.main(["verify", str(tmp_path / "run")]) == 0
    capsys.readouterr()
    assert cli.main(given) == 0
    assert "to keep these scenarios and runs, add --save DIR" in capsys.readouterr().out
    helios = str(WRITERS["helios"](tmp_path))
    assert cli.main(["trace", "info", helios, "--waits", "queue", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"other": 5, "by_queue": {"1": 10, "2": 1}}


def test_conversion(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file of a known data set becomes a log of the Standard Workload Format."""
    path = str(WRITERS["pm100"](tmp_path))
    assert cli.main(["trace", "convert", path, "--out", "jobs.swf"]) == 0
    assert capsys.readouterr().out.startswith("wrote jobs.swf: 2 jobs, ")
    records = [line.split() for line in Path("jobs.swf").read_text().splitlines() if line[0] != ";"]
    # Number, submission, run time, units, requested time, and the request of a unit.
    assert [[one[k] for k in (0, 1, 3, 7, 8, 18, 19)] for one in records] == [
        ["1", "1588334400", "100", "2", "3600", "32", "4"],
        ["2", "1588334430", "50", "1", "50", "8", "0"],
    ]
