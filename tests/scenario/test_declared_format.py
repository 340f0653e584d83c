"""A log of another format than its trace source reads."""

from pathlib import Path

import pytest

from hpcsched.scenario import read_scenario
from hpcsched.scenario.review import other_format
from tests.runs.small_scenario import write_scenario

SWF = "1 0 0 10 1 -1 -1 1 20 -1 1 1 1 1 1 1 -1 -1\n"
SACCT = "JobID|Submit|Start|End|State\n"
PBS = "03/01/2024 12:00:00;E;123.server;user=a\n"


@pytest.mark.parametrize(
    ("source", "text", "said"),
    [
        ("swf", SWF, None),
        ("swf", SACCT, "'source: slurm-sacct' reads it"),
        ("swf", PBS, "'source: pbs-accounting' reads it"),
        ("slurm-sacct", SWF, "'source: swf' reads it"),
        # What nobody knows is left to the source, and so is an empty file.
        ("swf", "a b c\n", None),
        ("swf", "", None),
    ],
)
def test_formats(source: str, text: str, said: str | None, tmp_path: Path) -> None:
    """The message names the source that reads the log."""
    path = write_scenario(tmp_path)
    old = "trace: {source: swf, path: log.swf}"
    scenario = path.read_text()
    assert scenario.count(old) == 1
    path.write_text(scenario.replace(old, f"trace: {{source: {source}, path: other.log}}"))
    (tmp_path / "other.log").write_text(text)
    found = other_format(read_scenario(path))
    assert [one.message.partition("; ")[2] for one in found] == ([said] if said else [])
