"""The bar that a forecast shows on a terminal."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from hpcsched.cli import app
from hpcsched.studies.forecast.forecast_progress import ForecastProgress
from tests.terminal import error_terminal

SCENARIO = str(Path(__file__).parents[3] / "scenarios" / "small-easy.yaml")


def test_futures_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """First the replay up to the instant, then the futures."""
    terminal = error_terminal(monkeypatch)
    with ForecastProgress(2) as progress:
        progress(1)
        progress(2)
    assert any("replaying up to the forecast" in line for line in terminal.lines)
    assert any("futures: 2 of 2" in line for line in terminal.lines)


@pytest.mark.parametrize("command", [["starts"], ["evaluate", "--jobs", "2"]])
def test_commands_show_it(command: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Every future is told to the bar, which is not drawn where there is no terminal."""
    told: list[tuple[int, ...]] = []
    monkeypatch.setattr(ForecastProgress, "__call__", lambda _, *ended: told.append(ended))
    options = ["--set", "trace.jobs=300", "--samples", "2"]
    result = CliRunner().invoke(app, ["forecast", command[0], SCENARIO, *command[1:], *options])
    assert result.exit_code == 0, result.output
    assert "futures" not in result.stderr
    if command == ["starts"]:
        assert told == [(1,), (2,)]
    else:
        total = told[-1][1]
        assert told == [(number, total) for number in range(1, total + 1)]
