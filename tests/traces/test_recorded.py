"""The schedule that KTH-SP2 records, followed."""

from pathlib import Path

import pytest

from hpcsched.audit.auditing import audit_directory
from hpcsched.runs.runner import run
from hpcsched.scenario import load_scenario
from tests.real_traces import KTH_SP2, trace

SCENARIO = """\
name: kth
system: {groups: [{name: node, count: 100, resources: {core: 1}}]}
trace: {source: swf, path: %s, unit: {core: 1}, jobs: %d}
dispatcher: recorded
"""


@pytest.mark.parametrize(
    ("jobs", "figures"),
    [
        (1000, (1000, 0, 0, 0)),
        pytest.param(28_481, (28_481, 57, 149_885, 16_231), marks=pytest.mark.slow),
    ],
)
def test_the_logs_own_schedule(jobs: int, figures: tuple[int, ...], tmp_path: Path) -> None:
    """Nearly all jobs start to the second when the log says; the audit finds nothing."""
    path = tmp_path / "kth.yaml"
    path.write_text(SCENARIO % (trace(KTH_SP2), jobs))
    done = run(load_scenario(path), tmp_path / "run")
    assert audit_directory(done.directory).ok
    found = done.summary["recorded_starts"]
    assert found["without_start"] == 0
    assert (found["jobs"], found["later"], found["later_time"], found["latest"]) == figures
