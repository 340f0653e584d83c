"""A plugin that fails while it is used is named: kind, name, distribution, expected and found."""

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from hpcsched import cli
from tests.plugins.distributions import Distributions

START = """
    from hpcsched import *
    from hpcsched.dispatching.planned_cost import linear
    from hpcsched.workload.transform import TransformAccount
    from hpcsched.workload.trace_source import TraceAccount
    from hpcsched.registration import KINDS
    import numpy as np

    class Source:
        uniform_request = None
        fraction_read = None
        files = ()
        comments = ()

        def __init__(self):
            self.account = TraceAccount()

        def job(self, number, submit_time, run_time=10):
            self.account.read += 1
            self.account.submitted += 1
            return TracedJob(Job(number, submit_time, Request(1, (1,)), 10), run_time)

    class Tested{bases}:
        {body}

    @hookimpl
    def hpcsched_{kind}s():
        yield Plugin("tested", "fails", lambda *_: Tested())
"""
SCENARIO = """\
name: faulty
system: {{groups: [{{name: node, count: 4, resources: {{core: 1}}}}]}}
{choice}
"""
LOG = "trace: {source: swf, path: trace.swf}\n"
EASY = f"{LOG}dispatcher: easy\n"


@dataclass(frozen=True)
class Fault:
    """The body of a plugin's class, the scenario that uses it, and the message after its name."""

    kind: str
    body: str
    choice: str
    message: str
    code: int = 1
    bases: str = ""


OUTLIVED = f"{EASY}predictor: {{name: last-two}}\ncorrection: tested\n"
FAULTS = {
    "trace source that raises": Fault(
        "trace_source",
        "def jobs(self): yield self.job(1, 0); raise KeyError('line')",
        "trace: tested\ndispatcher: easy\n",
        ": raised KeyError: 'line'",
        bases="(Source)",
    ),
    "trace source with a wrong type": Fault(
        "trace_source",
        "def jobs(self): yield 7",
        "trace: tested\ndispatcher: easy\n",
        ": expected a TracedJob with a Job, found 7",
        bases="(Source)",
    ),
    "trace source with a wrong value": Fault(
        "trace_source",
        "def jobs(self): yield self.job(1, 0, -3)",
        "trace: tested\ndispatcher: easy\n",
        ": job 1: expected a whole run_time of at least 0, found -3",
        bases="(Source)",
    ),
    "trace source out of order": Fault(
        "trace_source",
        "def jobs(self): yield self.job(1, 9); yield self.job(2, 5)",
        "trace: tested\ndispatcher: easy\n",
        ": expected jobs by ascending submit time, found job 2 at 5 after one at 9",
        bases="(Source)",
    ),
    "transform that raises": Fault(
        "transform",
        "def apply(self, jobs, account): yield next(jobs); 1 / 0",
        "trace: {source: swf, path: trace.swf, transforms: [tested]}\ndispatcher: easy\n",
        ": raised ZeroDivisionError: division by zero",
    ),
    "transform with a wrong type": Fault(
        "transform",
        "def apply(self, jobs, account): yield from (job for job, _ in jobs)",
        "trace: {source: swf, path: trace.swf, transforms: [tested]}\ndispatcher: easy\n",
        ": expected a TracedJob with a Job, found Job(",
    ),
    "predictor that raises": Fault(
        "predictor",
        "def predict(self, job): 1 / 0\n        def observe(self, job, run_time): pass",
        f"{EASY}predictor: tested\n",
        ", job 1: raised ZeroDivisionError: division by zero",
    ),
    "predictor with a wrong type": Fault(
        "predictor",
        "def predict(self, job): return '9'\n        def observe(self, job, run_time): pass",
        f"{EASY}predictor: tested\n",
        ", job 1: expected",
    ),
    "correction that raises": Fault(
        "correction",
        "def correct(self, job, predicted, elapsed): 1 / 0",
        OUTLIVED,
        ", job 4: raised ZeroDivisionError: division by zero",
    ),
    "correction with a wrong value": Fault(
        "correction",
        "def correct(self, job, predicted, elapsed): return elapsed",
        OUTLIVED,
        ", job 4: expected a whole number of seconds above 10, found 10",
    ),
    "dispatcher that raises": Fault(
        "dispatcher",
        "def dispatch(self, problem): 1 / 0",
        f"{LOG}dispatcher: tested\n",
        ", round 1: raised ZeroDivisionError: division by zero",
        code=3,
    ),
    "dispatcher with a wrong type": Fault(
        "dispatcher",
        "def dispatch(self, problem): return 5",
        f"{LOG}dispatcher: tested\n",
        ", round 1: expected a decision with a tuple of starts, found 5",
        code=3,
    ),
    "queue order that raises": Fault(
        "queue_order",
        "def sort(self, problem): 1 / 0",
        f"{LOG}dispatcher: {{name: list, order: tested}}\n",
        ", asked by dispatcher list in round 1: raised ZeroDivisionError: division by zero",
    ),
    "queue order with a wrong type": Fault(
        "queue_order",
        "def sort(self, problem): return [job.job_id for job in problem.queue]",
        f"{LOG}dispatcher: {{name: list, order: tested}}\n",
        ": expected the jobs of the queue, found 1 among them",
    ),
    "queue order that loses a job": Fault(
        "queue_order",
        "def sort(self, problem): return problem.queue[1:]",
        f"{LOG}dispatcher: {{name: order-search, priority: tested}}\n",
        ": expected each queued job once, found job 1 0 times",
    ),
    "allocator that raises": Fault(
        "allocator",
        "def allocate(self, units, room): 1 / 0",
        f"{LOG}dispatcher: {{name: easy, allocator: tested}}\n",
        ", asked by dispatcher easy in round 1: raised ZeroDivisionError: division by zero",
    ),
    "allocator with a wrong type": Fault(
        "allocator",
        "def allocate(self, units, room): return [0]",
        f"{LOG}dispatcher: {{name: easy, allocator: tested}}\n",
        ": expected a NodeAllocation, found [0]",
    ),
    "allocator with a wrong value": Fault(
        "allocator",
        "def allocate(self, units, room): return NodeAllocation((0,), (units + 1,))",
        f"{LOG}dispatcher: {{name: easy, allocator: tested}}\n",
        ": expected at most 1 units on node 0, found 2",
    ),
    "objective without a cost": Fault(
        "objective",
        "def measure(self, jobs): return 1.0",
        f"{LOG}objective: tested\ndispatcher: order-search\n",
        " cannot be planned for: its plans have no cost; expected an objective with a method"
        " 'planned_cost' or 'planned_ratio'",
    ),
    "objective with a cost that raises": Fault(
        "objective",
        "def measure(self, jobs): return 1.0\n        def planned_cost(self, jobs, now): 1 / 0",
        f"{LOG}objective: tested\ndispatcher: order-search\n",
        ", asked by dispatcher order-search in round 1: raised ZeroDivisionError",
    ),
    "objective with a negative cost": Fault(
        "objective",
        "def measure(self, jobs): return 1.0\n"
        "        def planned_cost(self, jobs, now): return linear(-np.ones(len(jobs)))",
        f"{LOG}objective: tested\ndispatcher: order-search\n",
        ": expected weights that are finite and not negative, found -1.0",
    ),
    "observer that raises": Fault(
        "observer",
        "def job_started(self, job): 1 / 0",
        f"{EASY}observers: [tested]\n",
        ": raised ZeroDivisionError: division by zero",
        bases="(Observer)",
    ),
    "observer with wrong data": Fault(
        "observer",
        "def additional_data(self, now): return 3",
        f"{EASY}observers: [tested]\n",
        ": expected a mapping of names to additional data, found 3",
        bases="(Observer)",
    ),
    "observer without methods": Fault(
        "observer",
        "pass",
        f"{EASY}observers: [tested]\n",
        ": expected its factory to return an object with 'round_ended', found Tested, which has"
        " none",
    ),
    "metric without a unit": Fault(
        "metric",
        "def measure(self, run): return 1.0",
        EASY,
        ": expected its factory to return an object with 'unit', found Tested, which has none",
    ),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a log: job 4 outlives the mean of the two jobs before it."""
    (tmp_path / "trace.swf").write_text(
        "1 0 -1 10 1 -1 -1 1 90 -1 1 1 1 1 1 1 -1 -1\n"
        "2 0 -1 10 1 -1 -1 1 90 -1 1 1 1 1 1 1 -1 -1\n"
        "3 20 -1 10 1 -1 -1 1 90 -1 1 1 1 1 1 1 -1 -1\n"
        "4 40 -1 60 1 -1 -1 1 90 -1 1 1 1 1 1 1 -1 -1\n"
        "5 50 -1 10 4 -1 -1 4 90 -1 1 1 1 1 1 1 -1 -1\n"
        "6 60 -1 10 4 -1 -1 4 90 -1 1 1 1 1 1 1 -1 -1\n"
    )
    return tmp_path


def run(fault: Fault, folder: Path, distributions: Distributions, *options: str) -> int:
    """Run a scenario with the plugin of a fault; return the exit code."""
    source = START.format(bases=fault.bases, body=fault.body, kind=fault.kind)
    distributions.install("broken", "0.7", source)
    scenario = folder / "scenario.yaml"
    scenario.write_text(SCENARIO.format(choice=fault.choice))
    return cli.main(["run", str(scenario), "--out", str(folder / "run"), "--quiet", *options])


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
def test_named(
    fault: Fault, folder: Path, distributions: Distributions, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line, without a traceback."""
    assert run(fault, folder, distributions) == fault.code
    told = capsys.readouterr().err
    found = told.splitlines()[-1]
    assert f"{fault.kind.replace('_', ' ')} tested (broken 0.7){fault.message}" in found
    assert "Traceback" not in told
    manifest = folder / "run" / "manifest.json"
    # The run directory of a run that had begun says the same.
    if manifest.exists():
        assert found.removeprefix("error: ") in json.loads(manifest.read_text())["error"]


def test_traceback_on_request(
    folder: Path, distributions: Distributions, capsys: pytest.CaptureFixture[str]
) -> None:
    """With -v the traceback comes before the line, with the line of the plugin."""
    assert run(FAULTS["allocator that raises"], folder, distributions, "-v") == 1
    told = capsys.readouterr().err
    assert "Traceback" in told
    assert "def allocate(self, units, room): 1 / 0" in told
    assert told.splitlines()[-1].startswith("error: allocator tested (broken 0.7), asked by")


@pytest.mark.parametrize(
    ("kind", "choice"), [("metric", EASY), ("objective", f"{EASY}objective: tested\n")]
)
@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("1 / 0", "raised ZeroDivisionError: division by zero"),
        ("'much'", "expected a finite number, or None, found 'much'"),
        ("float('nan')", "expected a finite number, or None, found nan"),
        ("True", "expected a finite number, or None, found True"),
    ],
)
def test_figures(  # noqa: PLR0917
    kind: str,
    choice: str,
    answer: str,
    message: str,
    folder: Path,
    distributions: Distributions,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A figure that fails does not take the run with it; the summary and the account name it."""
    body = f"unit = population = 'x'\n        def measure(self, run): return {answer}"
    assert run(Fault(kind, body, choice, ""), folder, distributions) == 0
    summary = json.loads((folder / "run" / "summary.json").read_text())
    assert summary["not_measured"] == {f"{kind} tested (broken 0.7)": message}
    capsys.readouterr()
    assert cli.main(["measure", str(folder / "run")]) in (0, 1)
    written = capsys.readouterr()
    assert f"{kind} tested (broken 0.7)" in written.out + written.err
