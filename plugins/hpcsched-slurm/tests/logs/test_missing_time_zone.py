"""A dump with local times needs a time zone, which `hpcsched validate` says."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from hpcsched.cli import app

HEADER = "JobID|Submit|Start|End|Timelimit|NNodes|NCPUS\n"
LOCAL = "7|2024-03-01T10:00:00|2024-03-01T10:00:00|2024-03-01T10:01:00|00:02:00|1|1\n"
SCENARIO = """\
name: s
system: {groups: [{name: n, count: 1, resources: {core: 4}}]}
trace: {source: slurm-sacct, path: log.txt}
predictor: requested-time
dispatcher: easy
"""


@pytest.mark.parametrize(
    ("rows", "line"),
    [
        (LOCAL, 2),
        (f"6|Unknown|Unknown|Unknown|00:02:00|1|1\nbroken\n{LOCAL}", 4),
        (LOCAL.replace("2024-03-01T10:00:00", "1709287200").replace("10:01:00", "10:01:00Z"), None),
    ],
)
def test_validate_tells_it(tmp_path: Path, rows: str, line: int | None) -> None:
    """The line of the first time is named; Unix times and those with an offset need no zone."""
    (tmp_path / "log.txt").write_text(HEADER + rows)
    (tmp_path / "s.yaml").write_text(SCENARIO)
    found = CliRunner().invoke(app, ["validate", str(tmp_path / "s.yaml")])
    assert found.exit_code == (line is not None)
    if line is not None:
        assert f"log.txt:{line}: error: '2024-03-01T10:00:00' is a local time" in found.stdout
