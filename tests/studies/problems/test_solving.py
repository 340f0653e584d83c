"""Solving asks dispatchers the saved problems, checks their answers and keeps how they fared."""

import hashlib
import json
from types import ModuleType

import pyarrow.parquet as pq
import pytest

from hpcsched import hookimpl
from hpcsched.dispatching.decision import NOTHING, Decision, SolverCall, Start
from hpcsched.errors import DecisionError, InputError
from hpcsched.registration import Plugin
from hpcsched.runs.runner import run
from hpcsched.scenario import load_scenario
from hpcsched.simulation.check import check_decision
from hpcsched.studies.problems.problem_files import InstancesFile, record
from hpcsched.studies.problems.solving import SCHEMA, answering_parts, answers, solve
from hpcsched.system.space import NodeAllocation
from hpcsched.testing import make_problem, make_system
from tests.studies.problems.samples import SMALL, small, tiny

SOLVER_COLUMNS = SCHEMA.names[SCHEMA.names.index("solver_status") :]


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """The problems of the small scenario under EASY."""
    path = tmp_path_factory.mktemp("saved") / "saved.jsonl.gz"
    record(small(), path)
    return InstancesFile(path)


def start_times(instances, scenario):
    """Return when each job is started first, by the answers to all problems."""
    parts = answering_parts(scenario)
    found = {}
    for answer in answers(instances.problems(parts.objective), parts.dispatcher, "x"):
        for job in answer.started:
            found.setdefault(job.job_id, answer.problem.now)
    return found


@pytest.mark.parametrize(
    "dispatcher",
    ["{name: easy, allocator: keep-scarce}", "{name: list, order: sjf}", "{name: list, depth: 2}"],
)
@pytest.mark.parametrize("form", ["aggregated", "node level"])
def test_the_same_starts_as_in_the_replay(dispatcher, form, tmp_path):
    """The dispatcher of the recording answers as it did then."""
    override = f"dispatcher={dispatcher}"
    scenario = (
        load_scenario(tiny(tmp_path), [override]) if form == "aggregated" else small(override)
    )
    run(scenario, tmp_path / "run")
    jobs = pq.read_table(tmp_path / "run" / "jobs.parquet")
    real = dict(zip(jobs["job_id"].to_pylist(), jobs["start_time"].to_pylist(), strict=True))
    record(scenario, tmp_path / "x")
    assert start_times(InstancesFile(tmp_path / "x"), scenario) == real


def test_the_table(saved, tmp_path):
    """A row for each problem; no solver, no columns of one; and what the table is about."""
    scenario = small()
    (done,) = solve(saved, [scenario], tmp_path / "out")
    assert (done.name, done.path) == ("small-easy", tmp_path / "out" / "small-easy.parquet")
    table = pq.read_table(done.path)
    assert table.schema.names == SCHEMA.names
    problems = list(saved.problems())
    assert done.problems == table.num_rows == len(problems)
    for name, values in {
        "round": [p.round for p in problems],
        "now": [p.now for p in problems],
        "queued": [len(p.queue) for p in problems],
        "running": [len(p.running) for p in problems],
    }.items():
        assert table[name].to_pylist() == values
    assert sum(table["started"].to_pylist()) == 300
    assert min(table["decision_time"].to_pylist()) > 0
    assert not any(table["fallback"].to_pylist())
    assert all(table[name].null_count == table.num_rows for name in SOLVER_COLUMNS)
    about = json.loads(table.schema.metadata[b"hpcsched-instances"])
    assert about["dispatcher"]["name"] == "easy"
    assert about["dispatcher"]["allocator"] == {"name": "keep-scarce"}
    assert about["objective"] == {"name": "mean_bounded_slowdown", "tau": 10}
    assert about["instances"] == {
        "file": str(saved.path),
        "sha256": hashlib.sha256(saved.path.read_bytes()).hexdigest(),
        "scenario": "small-easy",
    }
    assert about["versions"]["hpcsched"]
    assert about["plugins"] == {"hpcsched": "0.2.0"}
    (tmp_path / "kept.yaml").write_text(about["scenario"])
    assert load_scenario(tmp_path / "kept.yaml") == scenario


def test_started_slowdown(tmp_path):
    """By hand: at 10, job 5 waits for 0 s of a predicted 9000; at 9, nothing starts."""
    record(load_scenario(tiny(tmp_path)), tmp_path / "x")
    (done,) = solve(
        InstancesFile(tmp_path / "x"), [load_scenario(tmp_path / "tiny.yaml")], tmp_path
    )
    rows = pq.read_table(done.path).to_pylist()
    by_now = {row["now"]: row for row in rows}
    found = {now: (row["started"], row["started_slowdown"]) for now, row in by_now.items()}
    assert (found[0], found[9], found[10]) == ((2, 2.0), (0, 0.0), (1, 1.0))
    # Job 1 ends at 7919, and job 3 starts after 7910 s.
    assert by_now[7919]["started_slowdown"] >= (7910 + 9000) / 9000


def test_several_scenarios_and_a_limit(saved, tmp_path):
    """A table each, of the first so many problems."""
    scenarios = [small(), small("name=list", "dispatcher=list")]
    found = list(solve(saved, scenarios, tmp_path / "a" / "b", limit=7))
    assert [(done.name, done.problems) for done in found] == [("small-easy", 7), ("list", 7)]
    assert [path.name for path in sorted((tmp_path / "a" / "b").iterdir())] == [
        "list.parquet", "small-easy.parquet",
    ]  # fmt: skip


def test_the_trace_is_not_needed(saved, tmp_path):
    """Only the dispatcher, the objective and the seed of a scenario are used."""
    bare = tmp_path / "bare.yaml"
    system = SMALL.read_text().split("system:\n")[1].split("trace:")[0]
    bare.write_text(
        f"name: bare\nsystem:\n{system}trace: {{source: swf, path: '${{HPCSCHED_NO}}/none.swf'}}\n"
        "dispatcher: {name: list, order: saf}\n"
    )
    (done,) = solve(saved, [load_scenario(bare)], tmp_path / "out", limit=3)
    assert done.problems == 3


def test_another_system(saved, tmp_path):
    """It is refused, and how it differs is said; nothing is written."""
    other = small("system.groups[0].count=13", "system.groups[2].resources.gpu=2")
    with pytest.raises(InputError) as caught:
        list(solve(saved, [other], tmp_path / "out"))
    assert str(caught.value) == (
        f"error: the system of small-easy is not that of {saved.path}: system.groups.cpu.count:"
        " 12 -> 13; system.groups.gpu.resources.gpu: 4 -> 2 [other-system]"
    )
    assert not (tmp_path / "out").exists()


def test_targets(saved, tmp_path):
    """Tables that are there stay, unless they are to be replaced; names are unique."""
    out = tmp_path / "out"
    list(solve(saved, [small()], out, limit=1))
    with pytest.raises(InputError, match="it is there already; --force or force=True replaces it"):
        list(solve(saved, [small("name=new"), small()], out, limit=1))
    assert [path.name for path in out.iterdir()] == ["small-easy.parquet"]
    list(solve(saved, [small()], out, limit=2, force=True))
    assert pq.read_metadata(out / "small-easy.parquet").num_rows == 2
    with pytest.raises(InputError, match="two scenarios are called 'small-easy'"):
        list(solve(saved, [small(), small()], out, force=True))
    with pytest.raises(InputError, match="File exists"):
        list(solve(saved, [small()], saved.path))


class Scripted:
    """Starts nothing, and tells of a solver in every other round."""

    def __init__(self) -> None:
        self.asked = 0

    def dispatch(self, problem):
        """Return no start."""
        self.asked += 1
        if self.asked % 2:
            return NOTHING
        call = SolverCall("feasible", 3, 40, 5.5, None, 0.1, 0.2, 0.3)
        return Decision(fallback=True, solver=call, rejected=(problem.queue[0].job_id,))


class Wrong:
    """Fails in the second round."""

    def __init__(self, answer):
        self._answer = answer
        self._rounds = 0

    def dispatch(self, problem):
        """Return no start at first."""
        self._rounds += 1
        return NOTHING if self._rounds == 1 else self._answer(problem)


ANSWERS = {
    "raises": lambda _: 1 // 0,
    "none": lambda _: None,
    "twice": lambda p: Decision((), (p.queue[0].job_id, p.queue[0].job_id)),
    "elsewhere": lambda p: Decision((Start(p.queue[0].job_id, NodeAllocation((99,), (1,))),)),
}


def plugins() -> ModuleType:
    """Return a module with dispatchers that do as they are told."""

    @hookimpl
    def hpcsched_dispatchers():
        yield Plugin("scripted", "asks a solver", lambda _params, _context: Scripted())
        for name, answer in ANSWERS.items():
            yield Plugin(name, "fails", lambda _params, _context, answer=answer: Wrong(answer))

    module = ModuleType("scripted_dispatchers")
    module.hpcsched_dispatchers = hpcsched_dispatchers
    return module


def test_solver_columns(saved, tmp_path, use_plugins):
    """They are those of the call, and null where no solver was asked."""
    use_plugins(plugins())
    (done,) = solve(saved, [small("dispatcher=scripted")], tmp_path / "out", limit=4)
    rows = pq.read_table(done.path).to_pylist()
    call = {
        "fallback": True, "solver_status": "feasible", "modelled_jobs": 3, "variables": 40,
        "objective": 5.5, "bound": None, "build_time": 0.1, "transform_time": 0.2,
        "solve_time": 0.3, "started": 0, "rejected": 1, "started_slowdown": 0.0,
    }  # fmt: skip
    nothing = dict.fromkeys(SOLVER_COLUMNS) | {"fallback": False, "rejected": 0}
    for row, wanted in zip(rows, (nothing, call, nothing, call), strict=True):
        assert row | wanted == row
    about = json.loads(pq.read_schema(done.path).metadata[b"hpcsched-instances"])
    assert about["plugins"] == {"scripted_dispatchers": "0", "hpcsched": "0.2.0"}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("raises", "raised ZeroDivisionError: integer division or modulo by zero"),
        ("none", "expected a decision with a tuple of starts, found None"),
        ("twice", "is not waiting, or was decided on twice"),
        ("elsewhere", "nodes must be from 0 to 17"),
    ],
)
def test_wrong_answers(name, message, saved, tmp_path, use_plugins):
    """They end the solving, name dispatcher and round, and leave no table."""
    use_plugins(plugins())
    second = list(saved.problems(limit=2))[1].round
    with pytest.raises(DecisionError, match=message) as caught:
        list(solve(saved, [small(f"dispatcher={name}")], tmp_path / "out"))
    assert str(caught.value).startswith(
        f"dispatcher {name} (scripted_dispatchers 0), round {second}: "
    )
    assert not list((tmp_path / "out").iterdir())


TABLE = "job_id units run_time start_time\n1 3 9 0\n2 2 9 -\n3 1 9 -\n"


@pytest.mark.parametrize("aggregated", [False, True])
@pytest.mark.parametrize(
    ("decision", "message"),
    [
        (Decision((Start(2, NodeAllocation((3,), (1,))),)), "job 2: expected 2 units to be placed"),
        (Decision((Start(3, NodeAllocation((0,), (1,))),)), "job 3, node node-0: "),
        (Decision((Start(1, NodeAllocation((3,), (1,))),)), "job 1 is not waiting"),
        (Decision((Start(3, (3, 1)),)), "job 3: expected an allocation, found tuple"),
        (Decision((3,)), "expected starts in the decision, found 3"),
        (Decision([]), "expected a decision with a tuple of starts"),
    ],
)
def test_checks(aggregated, decision, message):
    """What the engine refuses is refused here, whichever form the problem has."""
    problem = make_problem(make_system(4), TABLE, now=1, aggregated=aggregated)
    with pytest.raises(ValueError, match=message):
        check_decision(problem, decision)
    good = Decision((Start(3, NodeAllocation((3,), (1,))),), (2,))
    assert [job.job_id for job in check_decision(problem, good)] == [3]


def test_a_log_is_not_in_saved_problems():
    """A dispatcher that follows the starts of a log has none to follow here."""
    text = "dispatcher={name: recorded, missing_start: submission}"
    scenario = load_scenario(SMALL, [text, "predictor=requested-time"])
    with pytest.raises(InputError, match="recorded follows a log, which dispatching problems"):
        answering_parts(scenario)
