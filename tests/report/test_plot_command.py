"""The command `plot`."""

from pathlib import Path
from typing import get_type_hints

import pytest
from typer.testing import CliRunner

from hpcsched.cli import app
from hpcsched.cli.result_commands import plot
from hpcsched.report.figures.gantt_figure import By
from tests.report.studies import pair


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("boxes", ["--of", "slowdown"]),
        ("boxes", ["--of", "queue_size"]),
        ("ecdf", []),
        ("bars", ["--metric", "mean_wait_time"]),
        ("load", ["--resource", "mem"]),
        ("decision-time", []),
        ("gantt", ["--from", "0", "--to", "200", "--resource", "gpu"]),
        ("gantt", ["--to", "2min", "--by", "size"]),
    ],
)
def test_every_kind(kind: str, options: list[str], tmp_path: Path) -> None:
    """Each writes its picture; a file that is there is replaced if that is asked for alone."""
    out = tmp_path / "pictures" / "picture.svg"
    arguments = ["plot", kind, *map(str, pair(tmp_path / "runs")), *options, "--out", str(out)]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert result.stdout == f"wrote {out}\n"
    assert out.read_text().startswith("<svg")
    again = CliRunner().invoke(app, arguments)
    assert "--force or force=True replaces it" in str(again.exception)
    assert CliRunner().invoke(app, [*arguments, "--force"]).exit_code == 0


def test_an_unknown_format(tmp_path: Path) -> None:
    """The ending of the name says what is written, so it must be known."""
    arguments = ["plot", "ecdf", str(tmp_path), "--out", "picture.gif"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 1
    assert "picture.gif does not end in one of .pdf, .svg, .png" in str(result.exception)


def test_the_attributes_of_colours() -> None:
    """The command offers those that a Gantt chart has."""
    assert get_type_hints(plot)["by"] == By | None
