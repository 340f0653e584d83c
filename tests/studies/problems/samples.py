"""Scenarios, and dispatching problems as values that can be compared."""

from pathlib import Path
from typing import Any

from hpcsched.dispatching.problem import DispatchingProblem
from hpcsched.scenario import Scenario, load_scenario
from tests.workload.readers.swf_files import record, write

ROOT = Path(__file__).parents[3]
SMALL = ROOT / "scenarios" / "small-easy.yaml"
TINY = """\
name: tiny
system: {groups: [{name: node, count: 4, resources: {core: 2}}]}
trace: {source: swf, path: log.swf}
dispatcher: easy
"""
RUN_TIMES = {1: 7919, 2: 6131, 3: 5003, 4: 4007, 5: 3001}
"""Numbers that turn up nowhere else."""


def small(*overrides: str) -> Scenario:
    """Return the scenario of the embedded trace, which has unlike jobs, cut to its beginning."""
    return load_scenario(SMALL, ["trace.jobs=300", *overrides])


def tiny(folder: Path) -> Path:
    """Write a scenario of equal unit requests, which are kept as slots, and return its path.

    Eight slots; at 0 jobs 1 and 2 start on 5 and 2, at 9 job 3 waits for 4; then 4 and 5 come,
    of which 5 fits.
    """
    lines = [
        record(number, submit, RUN_TIMES[number], units, 9000)
        for number, submit, units in ((1, 0, 5), (2, 0, 2), (3, 9, 4), (4, 10, 3), (5, 10, 1))
    ]
    write(folder, lines)
    path = folder / "tiny.yaml"
    path.write_text(TINY, encoding="utf-8")
    return path


def plain(problem: DispatchingProblem) -> dict[str, Any]:
    """Return all that a problem says, as values that compare equal where it says the same."""
    content = problem._asdict()
    assert not problem.free_amounts.flags.writeable
    assert problem.free_amounts.dtype == "int64"
    content["free_amounts"] = problem.free_amounts.tolist()
    return {**content, "availability": problem.availability.tolist()}
