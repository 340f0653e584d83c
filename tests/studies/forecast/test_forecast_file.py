"""The file of a forecast, and what it tells of jobs."""

import json
import time
from pathlib import Path

import pytest

from hpcsched.cli import main
from hpcsched.errors import InputError
from hpcsched.runs.files import write_json
from hpcsched.studies.forecast.forecast_file import (
    read_forecast,
)
from tests.studies.forecast.forecasts import FOUND


@pytest.fixture(name="file")
def _file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The forecast in a file, on a machine whose clock shows UTC."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    write_json(tmp_path / "forecast.json", FOUND.model_dump(mode="json"))
    return tmp_path / "forecast.json"


def test_a_forecast_is_read_as_it_was_written(file: Path) -> None:
    """Nothing is lost; files of another format, or damaged ones, are refused."""
    assert read_forecast(file) == FOUND
    content = json.loads(file.read_text())
    for changed, message in (({"format": 0}, "has format 0"), ({"jobs": 1}, "it is damaged: jobs")):
        file.write_text(json.dumps(content | changed))
        with pytest.raises(InputError, match=message):
            read_forecast(file)


def test_when(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A job, an array's tasks by its number, and one that does not wait."""
    assert main(["when", "7", "--forecast", str(file)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "7: between 13:30 and 14:30 (80%), in the middle 14:00; before it: 2 jobs, of which 1 of"
        " its group; would start at 12:40 with half the time limit",
        "as of 1970-01-01 12:00, by 200 sampled futures",
    ]
    assert main(["when", "100340", "--forecast", str(file)]) == 0
    assert capsys.readouterr().out.splitlines()[:2] == [
        "100340_1: between 12:30 and 13:30 (80%), in the middle 13:00; before it: 0 jobs, of"
        " which 0 of its group",
        "100340_12: between 1970-01-02 11:30 and 1970-01-02 12:30 (80%), in the middle"
        " 1970-01-02 12:00; before it: 3 jobs",
    ]
    assert main(["when", "7", "8", "10034", "--forecast", str(file)]) == 1
    assert (
        "not among the 4 jobs that waited at 1970-01-01 12:00: 8, 10034" in capsys.readouterr().err
    )
