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
    "trace source with amounts of another system": Fault(
        "trace_source",
        "def jobs(self): yield TracedJob(Job(1, 0, Request(1, (1, 2)), 10), 5)",
        "trace: tested\ndispatcher: easy\n",
        ": job 1: expected a tuple with an amount of each of core, found (1, 2)",
        bases="(Source)",
    ),
    "trace source with a user that is no number": Fault(
        "trace_source",
        "def jobs(self): yield TracedJob(Job(1, 0, Request(1, (1,)), 10, user='bob'), 5)",
        "trace: tested\ndispatcher: easy\n",
        ": job 1: expected a whole user of at least 0, found 'bob'",
        bases="(Source)",
    ),
    "trace source with an unknown node": Fault(
        "trace_source",
        "def jobs(self): yield TracedJob(Job(1, 0, Request(1, (1,), None, {77}), 10), 5)",
        "trace: tested\ndispatcher: easy\n",
        ": job 1: expected nodes from 0 to 3, found [77]",
        bases="(Source)",
    ),
    "trace source with an unknown group": Fault(
        "trace_source",
        "def jobs(self): yield TracedJob(Job(1, 0, Request(1, (1,), {'gpu'}), 10), 5)",
        "trace: tested\ndispatcher: easy\n",
        ": job 1: expected node groups among node, found ['gpu']",
        bases="(Source)",
    ),
    "trace source with a job twice": Fault(
        "trace_source",
        "def jobs(self): yield self.job(1, 0); yield self.job(1, 5)",
        "trace: tested\ndispatcher: easy\n",
        ": job 1: expected each number once, found it twice",
        bases="(Source)",
    ),
    "trace source without an account": Fault(
        "trace_source",
        "def jobs(self): yield TracedJob(Job(1, 0, Request(1, (1,)), 10), 5)",
        "trace: tested\ndispatcher: easy\n",
        ": account: expected 1 submitted, as many as jobs, found 0",
        bases="(Source)",
    ),
    "trace source with files that are no paths": Fault(
        "trace_source",
        "files = 'log.csv'\n        def jobs(self): yield self.job(1, 0)",
        "trace: tested\ndispatcher: easy\n",
        ": expected a sequence of Path as files, found 'log.csv'",
        bases="(Source)",
    ),
    "trace source without jobs": Fault(
        "trace_source",
        "def jobs(self): return None",
        "trace: tested\ndispatcher: easy\n",
        ": expected jobs() to yield jobs, found None",
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
    "transform that numbers anew": Fault(
        "transform",
        "def apply(self, jobs, account):\n"
        "            for job, run_time in jobs: yield TracedJob(job._replace(job_id=99), run_time)",
        "trace: {source: swf, path: trace.swf, transforms: [tested]}\ndispatcher: easy\n",
        ": expected the jobs that it was given, found one with the number 99",
    ),
    "transform that doubles": Fault(
        "transform",
        "def apply(self, jobs, account):\n            for one in jobs: yield one; yield one",
        "trace: {source: swf, path: trace.swf, transforms: [tested]}\ndispatcher: easy\n",
        ": expected each job once, found job 1 twice",
    ),
    "transform without a yield": Fault(
        "transform",
        "def apply(self, jobs, account): list(jobs)",
        "trace: {source: swf, path: trace.swf, transforms: [tested]}\ndispatcher: easy\n",
        ": expected apply() to yield jobs, found None",
    ),
    "transform with other arguments": Fault(
        "transform",
        "def apply(self, jobs): yield from jobs",
        "trace: {source: swf, path: trace.swf, transforms: [tested]}\ndispatcher: easy\n",
        ": expected a method apply(jobs, account), found apply(jobs)",
    ),
    "predictor of ages": Fault(
        "predictor",
        "def predict(self, job): return 10**30\n        def observe(self, job, run_time): pass",
        f"{EASY}predictor: tested\n",
        ", job 1: expected at most 4294967296 s (136 years), found 1000000",
    ),
    "predictor that looks for the run time": Fault(
        "predictor",
        "def predict(self, job): return job.run_time\n"
        "        def observe(self, job, run_time): pass",
        f"{EASY}predictor: tested\n",
        ", job 1: raised AttributeError: 'Job' object has no attribute 'run_time'",
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
    "dispatcher with a list of starts": Fault(
        "dispatcher",
        "def dispatch(self, problem): return Decision([])",
        f"{LOG}dispatcher: tested\n",
        ", round 1: expected a decision with a tuple of starts, found a list",
        code=3,
    ),
    "dispatcher with numbers of NumPy": Fault(
        "dispatcher",
        "def dispatch(self, problem): return Decision((Start(1, NodeAllocation((0,),"
        " (np.int64(1),))),))",
        f"{LOG}dispatcher: tested\n",
        ", round 1: job 1: nodes and units must be whole numbers (int), found np.int64(1)",
        code=3,
    ),
    "dispatcher that exits": Fault(
        "dispatcher",
        "def dispatch(self, problem): raise SystemExit(7)",
        f"{LOG}dispatcher: tested\n",
        ", round 1: raised SystemExit: 7",
        code=3,
    ),
    "queue order that changes a job": Fault(
        "queue_order",
        "def sort(self, problem): return [job._replace(units=1) for job in problem.queue]",
        f"{LOG}dispatcher: {{name: list, order: tested}}\n",
        ": expected the jobs of the queue as they are, found job 5 changed",
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
        f"{LOG}dispatcher: {{name: best-of, solver: none, priority: tested}}\n",
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
    "allocator that changes its room": Fault(
        "allocator",
        "def allocate(self, units, room): room.available[:] = 0",
        f"{LOG}dispatcher: {{name: easy, allocator: tested}}\n",
        ", asked by dispatcher easy in round 1: raised ValueError: assignment destination is",
    ),
    "objective without a population": Fault(
        "objective",
        "def measure(self, jobs): return 1.0\n"
        "        def planned_cost(self, jobs, now):\n"
        "            return linear(np.ones(len(jobs)))._replace(population=0)",
        f"{LOG}objective: tested\ndispatcher: order-search\n",
        ": expected a population of at least 1, found 0",
    ),
    "objective with texts as weights": Fault(
        "objective",
        "def measure(self, jobs): return 1.0\n"
        "        def planned_cost(self, jobs, now): return linear(['a'] * len(jobs))",
        f"{LOG}objective: tested\ndispatcher: order-search\n",
        ": expected weights that are numbers, found those of type <U1",
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
    "observer with other arguments": Fault(
        "observer",
        "def job_started(self): pass",
        f"{EASY}observers: [tested]\n",
        ": expected a method job_started(job), found job_started()",
        bases="(Observer)",
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


ENDS = {
    "raise BaseException('odd')": "raised BaseException: odd",
    "raise GeneratorExit": "raised GeneratorExit",
    "exit(0)": "raised SystemExit: 0",
}
"""What might end a command without a word, and what is told of it."""

PLACES = {
    "dispatcher": ("def dispatch(self, problem): {}", f"{LOG}dispatcher: tested\n", ""),
    "observer": (
        "def job_started(self, job): {}",
        f"{EASY}observers: [tested]\n",
        "(Observer)",
    ),
    "predictor": (
        "def predict(self, job): {}\n        def observe(self, job, run_time): pass",
        f"{EASY}predictor: tested\n",
        "",
    ),
    "trace_source": ("def jobs(self): {}; yield", "trace: tested\ndispatcher: easy\n", "(Source)"),
}
"""A method of each kind of plugin, the scenario that uses it, and the base class."""


@pytest.mark.parametrize("kind", PLACES)
@pytest.mark.parametrize("end", ENDS)
def test_ends_of_the_process(
    folder: Path,
    distributions: Distributions,
    capsys: pytest.CaptureFixture[str],
    *,
    kind: str,
    end: str,
) -> None:
    """A plugin that would end the process is named, and the exit code is not 0."""
    body, choice, bases = PLACES[kind]
    fault = Fault(kind, body.format(end), choice, "", bases=bases)
    assert run(fault, folder, distributions) in {1, 3}
    told = capsys.readouterr().err
    assert f"{kind.replace('_', ' ')} tested (broken 0.7)" in told.splitlines()[-1]
    assert ENDS[end] in told.splitlines()[-1]
    assert "Traceback" not in told


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
    ("kind", "body", "choice", "bases"),
    [
        ("metric", "unit = population = 'x'\n        def measure(self, run): 1 / 0", EASY, ""),
        ("observer", "def close(self): 1 / 0", f"{EASY}observers: [tested]\n", "(Observer)"),
    ],
)
def test_traceback_of_what_ends_nothing(
    kind: str,
    body: str,
    choice: str,
    bases: str,
    folder: Path,
    distributions: Distributions,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """With -v, the author sees the line of a fault that does not take the run with it."""
    assert run(Fault(kind, body, choice, "", bases=bases), folder, distributions, "-v") == 0
    assert body.rpartition("\n")[2].strip() in capsys.readouterr().err


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
        ("exit(7)", "raised SystemExit: 7"),
    ],
)
def test_figures(
    kind: str,
    choice: str,
    answer: str,
    message: str,
    folder: Path,
    distributions: Distributions,
) -> None:
    """A figure that fails does not take the run with it; the summary and the account name it."""
    body = f"unit = population = 'x'\n        def measure(self, run): return {answer}"
    assert run(Fault(kind, body, choice, ""), folder, distributions) == 0
    summary = json.loads((folder / "run" / "summary.json").read_text())
    assert summary["not_measured"] == {f"{kind} tested (broken 0.7)": message}


def test_unknown_column(folder: Path, distributions: Distributions) -> None:
    """A metric that asks for a column that there is not is told which ones there are."""
    body = (
        "unit = population = 'x'\n"
        "        def measure(self, run): return next(run.jobs.batches('wait'))"
    )
    assert run(Fault("metric", body, EASY, ""), folder, distributions) == 0
    summary = json.loads((folder / "run" / "summary.json").read_text())
    (why,) = summary["not_measured"].values()
    assert why.startswith("it has no column 'wait'; there are: job_id, submit_time, ")


def test_observer_that_cannot_close(folder: Path, distributions: Distributions) -> None:
    """The replay has ended: it is complete, with its metrics, and the summary names the plugin."""
    body = "def close(self): 1 / 0"
    fault = Fault("observer", body, f"{EASY}observers: [tested]\n", "", bases="(Observer)")
    assert run(fault, folder, distributions) == 0
    written = json.loads((folder / "run" / "summary.json").read_text())
    why = "close raised ZeroDivisionError: division by zero"
    assert written["not_closed"] == {"observer tested (broken 0.7)": why}
    assert written["metrics"]["mean_wait_time"] is not None
    assert json.loads((folder / "run" / "manifest.json").read_text())["status"] == "complete"
    assert cli.main(["verify", str(folder / "run")]) == 0


@pytest.mark.parametrize(
    ("kind", "body", "choice"),
    [
        (
            "metric",
            "unit = population = 'x'\n        def measure(self, run): print('noise')",
            EASY,
        ),
        (
            "predictor",
            "def predict(self, job): print('noise'); return 5\n"
            "        def observe(self, job, run_time): pass",
            f"{EASY}predictor: tested\n",
        ),
    ],
)
def test_prints(
    kind: str,
    body: str,
    choice: str,
    folder: Path,
    distributions: Distributions,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Standard output is for results: what a plugin prints goes to standard error."""
    assert run(Fault(kind, body, choice, ""), folder, distributions) == 0
    written = capsys.readouterr()
    assert "noise" not in written.out
    assert "noise" in written.err
