"""The command that shows the longest waits of a run."""

from pathlib import Path

import typer
from typer.testing import CliRunner

import hpcsched
from hpcsched_example.longest_waits import longest_waits

SCENARIO = """\
name: waits
system: {groups: [{name: node, count: 1, resources: {core: 1}}]}
trace: {source: swf, path: trace.swf}
dispatcher: easy
"""


def test_the_longest_first(tmp_path: Path) -> None:
    """Two of three jobs wait, the last one longest."""
    trace = "".join(f"{k} {k} -1 50 1 -1 -1 1 60 -1 1 1 1 1 1 1 -1 -1\n" for k in (1, 2, 3))
    (tmp_path / "trace.swf").write_text(trace)
    (tmp_path / "scenario.yaml").write_text(SCENARIO)
    hpcsched.run(hpcsched.load_scenario(tmp_path / "scenario.yaml"), tmp_path / "run")
    app = typer.Typer()
    app.command()(longest_waits)
    told = CliRunner().invoke(app, [str(tmp_path / "run"), "--count", "2"])
    assert told.output == "job 3 waited 98 s\njob 2 waited 49 s\n"
