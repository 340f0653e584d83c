"""Dispatch latency: rounds that take simulated time."""

import json
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hpcsched.cli import main
from hpcsched.dispatching.decision import Decision, SolverCall
from hpcsched.dispatching.rules.recorded import Reject
from hpcsched.errors import DecisionError, InputError
from hpcsched.metrics.capacity import loss_of_capacity
from hpcsched.metrics.metric import RunTables
from hpcsched.runs.runner import run
from hpcsched.runs.tables import RunRecords
from hpcsched.scenario import load_scenario, read_scenario, resolved_yaml
from hpcsched.scenario.review import review
from hpcsched.simulation.event_loop import EventLoop
from hpcsched.simulation.latency import Latency, LatencyAccount
from hpcsched.simulation.observer import Observer
from hpcsched.testing import audit_replay
from tests.builders import Recorder, Told, alike, easy, lists, parts, replay, traced
from tests.properties import brute_force
from tests.real_traces import KTH_SP2, trace
from tests.strategies import mixed_workloads, tries, uniform_workloads

SYSTEM = alike(2, core=1)
FORMS = pytest.mark.parametrize("uniform_request", [(1,), None], ids=["aggregated", "node level"])


def seconds(base="0", per_queued_job="0", per_variable="0", measured="0"):
    """Return a latency whose parts are given as texts, such as `0.4`."""
    return Latency(*map(Fraction, (base, per_queued_job, per_variable, measured)))


def charged(recorder):
    """Return when each round was asked for, what it was charged, and how many jobs it started."""
    return [(record.now, record.latency, record.started) for record in recorder.rounds]


# What is charged.


def test_fractions_are_carried_over():
    """Charges add up to what they are in all, however they are cut into whole seconds."""
    account = LatencyAccount(seconds("0.4"))
    assert [account.charge(1, Decision(), 9.0) for _ in range(5)] == [0, 0, 1, 0, 1]
    account = LatencyAccount(seconds("0.1"))
    assert sum(account.charge(1, Decision(), 9.0) for _ in range(10_000)) == 1000
    account = LatencyAccount(seconds("2.75"))
    assert [account.charge(1, Decision(), 9.0) for _ in range(4)] == [2, 3, 3, 3]


def test_what_is_not_given_is_not_charged():
    """A part that is left out costs nothing, however long the decision took in reality."""
    decision = Decision(solver=SolverCall("optimal", 7, 200, None, None, 0.0, 0.0, 0.0))
    assert Latency().charge(7, decision, 2.5) == 0
    assert Latency(base=Fraction(1)).charge(7, decision, 2.5) == 1


def test_how_many_fractions_of_a_second_there_are():
    """Sevenths and thirds make 21, and there are 1000 at most, as where time is measured."""
    assert seconds("3").fractions == 1
    assert Latency(Fraction(1, 7), Fraction(2, 3), Fraction(1, 3)).fractions == 21
    assert seconds("0.0001").fractions == 1000
    assert seconds(measured="1.5").fractions == 1000


def test_a_model_counts_jobs_and_variables():
    """The parts add up; a round in which no solver was asked has no variables."""
    latency = seconds("1", "0.5", "0.01")
    solver = SolverCall("optimal", 3, 200, None, None, 0.0, 0.0, 0.0)
    assert latency.charge(4, Decision(), 9.0) == 3
    assert latency.charge(4, Decision(solver=solver), 9.0) == 5


def test_what_is_measured_is_charged_beside_the_rest():
    """Two seconds, and one and a half times four."""
    assert seconds("2", measured="1.5").charge(1, Decision(), 4.0) == 8


@given(first=st.floats(0, 1e6), second=st.floats(0, 1e6))
def test_a_measured_charge_grows_with_what_is_measured(first, second):
    """It is the measured time times the factor."""
    latency = seconds(measured="1.5")
    charges = [latency.charge(1, Decision(), time) for time in sorted((first, second))]
    assert charges == sorted(charges)
    assert charges[0] == Fraction(3, 2) * Fraction(min(first, second))


# When things happen, worked out by hand.


@FORMS
def test_the_example_of_the_documentation(uniform_request):
    """An end and a submission during a flight open a round of their own."""
    jobs = (traced(1, 0, 1, 4), traced(2, 3, 1, 6), traced(3, 12, 2, 1))
    recorder = replay(SYSTEM, easy(), jobs, uniform_request=uniform_request, latency=seconds("5"))
    assert recorder.start_times == {1: 5, 2: 10, 3: 22}
    assert charged(recorder) == [(0, 5, 1), (5, 5, 1), (12, 5, 0), (17, 5, 1)]
    assert recorder.events == [
        ("submitted", 1), ("submitted", 2), ("started", 1), ("round", 0),
        ("completed", 1), ("started", 2), ("round", 5),
        ("submitted", 3), ("completed", 2), ("round", 12),
        ("started", 3), ("round", 17),
        ("completed", 3),
    ]  # fmt: skip


def test_records_of_delayed_rounds():
    """Jobs are counted when a round is asked for and when it is done; what is lost lies between.

    Both cores are free at first. Until 3 only job 1 waits for one, until 5 job 2 as well: in all
    3 · 1 + 2 · 2 = 7. Then job 2 waits for one core for 5 s, while one is free and later both: 5.
    """
    jobs = (traced(1, 0, 1, 4), traced(2, 3, 1, 6))
    first, second = replay(SYSTEM, easy(), jobs, latency=seconds("5")).rounds
    assert (first.queued, first.running, first.started, first.waiting) == (1, 0, 1, 1)
    assert (first.waiting_amounts, first.free_amounts, first.lost_amounts) == ((1,), (1,), (7,))
    assert (second.queued, second.running, second.started, second.waiting) == (1, 1, 1, 0)
    assert (second.waiting_amounts, second.free_amounts, second.lost_amounts) == ((0,), (1,), (5,))


def test_events_of_the_due_instant_come_before_the_decision():
    """A job that ends and one that is submitted when a decision is due are of before it."""
    jobs = (traced(1, 0, 2, 5), traced(2, 5, 2, 3), traced(3, 10, 1, 2))
    recorder = replay(SYSTEM, easy(), jobs, latency=seconds("5"))
    assert recorder.events[:3] == [("submitted", 1), ("submitted", 2), ("started", 1)]
    # Round 2, asked for at 5, sees job 1 run; it is done at 10, when job 1 ends and 3 comes.
    assert recorder.start_times == {1: 5, 2: 15, 3: 23}
    assert charged(recorder) == [(0, 5, 1), (5, 5, 0), (10, 5, 1), (18, 5, 1)]


def test_a_decision_stays_that_for_what_it_saw():
    """Room that comes free while a decision is awaited is the next round's."""
    jobs = (traced(1, 0, 2, 7), traced(2, 1, 2, 1))
    recorder = replay(SYSTEM, easy(), jobs, latency=seconds("6"))
    # Round 2 is asked for at 6 and done at 12; job 1 ends at 13.
    assert recorder.start_times == {1: 6, 2: 19}
    assert charged(recorder) == [(0, 6, 1), (6, 6, 0), (13, 6, 1)]


def test_jobs_of_zero_run_time():
    """One that ends in the instant in which it starts opens a round, with a latency of its own."""
    jobs = (traced(1, 0, 2, 0, requested_time=1), traced(2, 0, 2, 0, requested_time=1))
    recorder = replay(SYSTEM, lists(option="greedy"), jobs, latency=seconds("5"))
    assert recorder.start_times == {1: 5, 2: 10}
    assert [record.end_time for record in recorder.jobs.values()] == [5, 10]
    assert charged(recorder) == [(0, 5, 1), (5, 5, 1)]


def test_less_than_a_second():
    """Rounds take no time until their charges make a second; then one takes it."""
    jobs = [traced(k, 10 * k, 1, 1) for k in range(6)]
    recorder = replay(SYSTEM, easy(), jobs, latency=seconds("0.4"))
    assert recorder.start_times == {0: 0, 1: 10, 2: 21, 3: 30, 4: 41, 5: 50}


def test_a_charge_for_each_queued_job():
    """The longer the queue when the round is asked for, the longer it takes.

    The round for jobs 2 and 3 takes 5 s. That for job 4 begins then, finds no room, and is over at
    108; jobs 2 and 3 have ended at 106, so the next one begins at once.
    """
    jobs = (traced(1, 0, 1, 1), traced(2, 100, 1, 1), traced(3, 100, 1, 1), traced(4, 101, 1, 1))
    recorder = replay(SYSTEM, easy(), jobs, latency=seconds("1", "2"))
    assert recorder.start_times == {1: 3, 2: 105, 3: 105, 4: 111}


class Solving:
    """EASY that says that it asked a solver, in every round but the first."""

    def dispatch(self, problem):
        """Return EASY's decision with a model of ten variables for each job."""
        decision = easy().dispatch(problem)
        if problem.round == 1:
            return decision
        call = SolverCall("optimal", 1, 10 * len(problem.queue), None, None, 0.0, 0.0, 0.0)
        return decision._replace(solver=call)


def test_a_charge_for_each_variable():
    """It is the solver's model that counts, where there is one."""
    jobs = (traced(1, 0, 1, 1), traced(2, 100, 1, 1), traced(3, 200, 1, 1), traced(4, 200, 1, 1))
    recorder = replay(SYSTEM, Solving(), jobs, latency=seconds(per_variable="0.3"))
    assert recorder.start_times == {1: 0, 2: 103, 3: 206, 4: 206}


def test_measured_time(monkeypatch):
    """A decision that takes a quarter of a second, times twenty, is carried out 5 s later."""
    clock = iter(range(10**6))
    monkeypatch.setattr(
        "hpcsched.simulation.decision_requests.perf_counter", lambda: next(clock) / 4
    )
    jobs = (traced(1, 0, 1, 4), traced(2, 3, 1, 6), traced(3, 12, 2, 1))
    starts = [
        replay(SYSTEM, easy(), jobs, latency=seconds(measured=factor)).start_times
        for factor in ("0", "20")
    ]
    assert starts == [{1: 0, 2: 3, 3: 12}, {1: 5, 2: 10, 3: 22}]


def test_refusals_are_delayed():
    """A job that is to be refused is in the queue until then."""
    recorder = replay(
        SYSTEM, Reject(), (traced(1, 0, 1, 3), traced(2, 2, 1, 3)), latency=seconds("5")
    )
    assert recorder.events == [
        ("submitted", 1), ("submitted", 2), ("rejected", 1), ("round", 0),
        ("rejected", 2), ("round", 5),
    ]  # fmt: skip
    assert [(record.now, record.rejected, record.waiting) for record in recorder.rounds] == [
        (0, 1, 1), (5, 1, 0),
    ]  # fmt: skip


def test_a_job_that_never_fits_ends_the_run():
    """A decision after which nothing can happen any more is carried out, and then it is told."""
    with pytest.raises(
        DecisionError,
        match="1 jobs are left waiting: job 1",
    ):
        replay(
            SYSTEM,
            lists("fcfs", "greedy"),
            (traced(1, 0, 3, 1), traced(2, 0, 1, 1)),
            latency=seconds("5"),
        )


def test_a_bad_decision_is_told_with_its_round():
    """What is wrong with a decision is found when it is carried out, and names the round."""

    class Twice:
        def dispatch(self, problem):
            starts = easy().dispatch(problem).starts
            return Decision(starts * problem.round)

    with pytest.raises(DecisionError, match="round 2: job 2 is not waiting"):
        replay(SYSTEM, Twice(), (traced(1, 0, 1, 9), traced(2, 1, 1, 9)), latency=seconds("5"))


class Stopping(Observer):
    """Stops a simulation when a job is submitted."""

    def __init__(self, job_id):
        self.job_id = job_id
        self.simulation = None

    def job_submitted(self, job):
        """Stop it."""
        if job.job_id == self.job_id:
            self.simulation.stop()


@pytest.mark.parametrize(
    ("job_id", "waiting", "running"), [(1, 1, 0), (2, 2, 0), (3, 2, 1), (4, 3, 1)]
)
def test_stopping_while_a_decision_is_awaited(job_id, waiting, running):
    """Jobs whose start is due later stay in the queue; those due in the present instant start."""
    jobs = (traced(1, 0, 1, 9), traced(2, 3, 1, 9), traced(3, 5, 1, 9), traced(4, 6, 1, 9))
    recorder, stopping = Recorder(), Stopping(job_id)
    simulation = EventLoop(
        parts(SYSTEM, easy(), observers=(recorder, stopping), latency=seconds("5")),
        places=False,
        in_python=True,
    )
    stopping.simulation = simulation
    simulation.replay(jobs)
    assert simulation.stopped
    assert (simulation.state.waiting, simulation.state.running) == (waiting, running)
    assert len(recorder.rounds) == running


# What holds of every workload.

DISPATCHERS = {
    "easy": (easy(), brute_force.easy),
    "list": (lists(), brute_force.list_scheduling("fcfs", "backfill", None)),
}
CHOSEN = pytest.mark.parametrize("name", DISPATCHERS)
LATENCIES = st.sampled_from(["0.3", "1", "1.5", "2", "7"])


def replayed(dispatcher, workload, uniform_request=None, latency=None):
    """Return the recorder of a replay that passes the audits."""
    recorder = replay(
        workload.system,
        dispatcher,
        workload.jobs,
        predictor=Told(workload.predictions),
        uniform_request=uniform_request,
        latency=latency,
    )
    audit_replay(list(recorder.jobs.values()), workload.jobs, workload.system)
    return recorder


@CHOSEN
@tries(30)
@given(workload=mixed_workloads())
def test_a_latency_of_zero_is_none(name, workload):
    """All that is told is the same, but for how long decisions took."""
    without, with_zero = (
        replayed(DISPATCHERS[name][0], workload, latency=latency) for latency in (None, seconds())
    )
    assert without.events == with_zero.events
    assert without.jobs == with_zero.jobs
    assert [record._replace(decision_time=0) for record in without.rounds] == [
        record._replace(decision_time=0) for record in with_zero.rounds
    ]


@CHOSEN
@tries(30)
@given(workload=mixed_workloads(), latency=st.integers(1, 9))
def test_no_job_starts_before_the_latency_is_over(name, workload, latency):
    """A job's round is asked for at its submission at the earliest; rounds do not overlap."""
    recorder = replayed(DISPATCHERS[name][0], workload, latency=seconds(latency))
    for record in recorder.jobs.values():
        assert record.start_time >= record.job.submit_time + latency
    asked = [record.now for record in recorder.rounds]
    assert all(later - earlier >= latency for earlier, later in pairwise(asked))
    assert len(recorder.jobs) == len(workload.jobs)


def naive_replay(decide, workload, charge):
    """Return the start times of a replay with a latency, second by second.

    `charge` gives what a round costs in tenths of a second, from the number of queued jobs.
    """
    upcoming, queue, active, starts = list(workload.jobs), [], [], {}
    run_times = {job.job_id: run_time for job, run_time in upcoming}
    now, owed, due, chosen, changed = -1, 0, None, [], False
    while upcoming or queue or active:
        now += 1
        changed |= any(end <= now for *_, end in active)
        active = [entry for entry in active if entry[2] > now]
        while upcoming and upcoming[0].job.submit_time == now:
            job = upcoming.pop(0).job
            predicted = workload.predictions[job.job_id]
            queue.append(brute_force.Waiting(job.job_id, now, job.units, predicted))
            changed = True
        while True:
            if due == now:
                due = None
                for job in [job for job in queue if job.job_id in chosen]:
                    queue.remove(job)
                    starts[job.job_id] = now
                    active.append((job, now, now + run_times[job.job_id]))
                changed |= any(end == now for *_, end in active)
                active = [entry for entry in active if entry[2] > now]
            if due is not None or not changed or not queue:
                break
            running = [
                brute_force.Running(job.units, max(start + job.predicted, now + 1))
                for job, start, _ in active
            ]
            chosen = decide(now, queue, running, workload.slots)
            owed += charge(len(queue))
            due, owed, changed = now + owed // 10, owed % 10, False
    return starts


@CHOSEN
@tries(60)
@given(workload=uniform_workloads(), base=st.integers(0, 45), per_job=st.integers(0, 12))
def test_against_a_naive_replay(name, workload, base, per_job):
    """Jobs start when a replay says that goes second by second; slots and nodes agree."""
    dispatcher, decide = DISPATCHERS[name]
    expected = naive_replay(decide, workload, lambda queued: base + per_job * queued)
    latency = Latency(Fraction(base, 10), Fraction(per_job, 10))
    for request in (workload.request, None):
        assert replayed(dispatcher, workload, request, latency).start_times == expected


@CHOSEN
@tries(40)
@given(workload=mixed_workloads(), latency=LATENCIES)
def test_what_is_lost(name, workload, latency):
    """The rounds tell of ∫ min(waited for, free) dt what the jobs tell second by second."""
    recorder = replayed(DISPATCHERS[name][0], workload, latency=seconds(latency))
    rounds, records = recorder.rounds, recorder.jobs.values()
    end = max(record.end_time for record in records)
    for r, total in enumerate(workload.system.totals):
        expected = 0
        for second in range(end):
            waiting = [j for j in records if j.job.submit_time <= second < j.start_time]
            running = [
                (j.job, brute_force.placement_of(workload.system, j.allocation))
                for j in records
                if j.start_time <= second < j.end_time
            ]
            left = brute_force.free_beside(workload.system, running)
            free = sum(node[r] for node in left)
            assert 0 <= free <= total
            expected += min(sum(j.job.units * j.job.unit_request[r] for j in waiting), free)
        found = sum(record.lost_amounts[r] for record in rounds)
        for one, following in pairwise(rounds):
            idle = min(one.waiting_amounts[r], one.free_amounts[r])
            found += idle * (following.now - one.now - one.latency)
        assert found == expected


# Scenarios and runs.

SCENARIO = """\
name: late
system: {groups: [{name: node, count: 2, resources: {core: 1}}]}
trace: {source: swf, path: trace.swf, unit: {core: 1}, zero_run_time: keep}
dispatcher: easy
simulation:
  dispatch_latency: LATENCY
"""
TRACE = """\
1 0 -1 4 1 -1 -1 1 4 -1 1 1 1 1 1 1 -1 -1
2 3 -1 6 1 -1 -1 1 6 -1 1 1 1 1 1 1 -1 -1
3 12 -1 1 2 -1 -1 2 1 -1 1 1 1 1 1 1 -1 -1
"""


def write(folder: Path, latency: str) -> Path:
    """Write a scenario with a dispatch latency, and its trace; return the scenario's file."""
    (folder / "trace.swf").write_text(TRACE)
    path = folder / "scenario.yaml"
    path.write_text(SCENARIO.replace("LATENCY", latency))
    return path


@pytest.mark.parametrize(
    ("text", "latency"),
    [
        ("null", None),
        ("{fixed: 2s}", seconds("2")),
        ("{fixed: 2}", seconds("2")),
        ("{fixed: 0}", seconds()),
        ("{fixed: 0.12}", seconds("0.12")),
        ("{fixed: 120ms}", seconds("0.12")),
        ("{fixed: 1min30s}", seconds("90")),
        ("{base: 0.1, per_queued_job: 2ms, per_variable: 1.0e-7}", seconds("0.1", "0.002", "1e-7")),
        ("{per_variable: 0.3}", seconds(per_variable="0.3")),
        ("{measured: 1.5}", seconds(measured="1.5")),
    ],
)
def test_forms(text: str, latency: Latency | None, tmp_path: Path) -> None:
    """Each form means what is written, exactly, and so does its resolved form."""
    scenario = load_scenario(write(tmp_path, text))
    assert scenario.simulation.latency == latency
    (tmp_path / "again.yaml").write_text(resolved_yaml(scenario))
    assert load_scenario(tmp_path / "again.yaml") == scenario


@pytest.mark.parametrize(
    ("text", "place", "key", "message"),
    [
        ("{}", "6:21", "", "expected fixed, or measured, or some of base"),
        ("2s", "6:21", "", "expected a mapping of keys, found '2s'"),
        ("{fixed: 1, base: 2}", "6:38", ".base", "found base beside fixed"),
        ("{measured: 1, fixed: 2}", "6:32", ".measured", "found measured beside fixed"),
        ("{per_variable: 2, measured: 1}", "6:49", ".measured", "measured beside per_variable"),
        ("{fixed: -1}", "6:29", ".fixed", "expected a value of at least 0.0, found -1"),
        ("{fixed: soon}", "6:29", ".fixed", "expected a duration"),
        ("{fixed: true}", "6:29", ".fixed", "expected a number, found true"),
        ("{fixed: .inf}", "6:29", ".fixed", "expected a finite number"),
        ("{measured: 2s}", "6:32", ".measured", "expected a number, found '2s'"),
        ("{fixde: 1}", "6:22", ".fixde", "did you mean 'fixed'?"),
    ],
)
def test_faults(text: str, place: str, key: str, message: str, tmp_path: Path) -> None:
    """Each fault is told with its place."""
    path = write(tmp_path, text)
    with pytest.raises(InputError) as caught:
        load_scenario(path)
    finding = caught.value.findings[0]
    assert finding.key == f"simulation.dispatch_latency{key}"
    assert message in finding.message
    assert str(finding.place).endswith(f":{place}")


def test_measured_is_not_reproducible(tmp_path: Path) -> None:
    """`validate` warns of it, and the manifest says so; other forms are as good as none."""
    loaded = read_scenario(write(tmp_path, "{measured: 2}"))
    (finding,) = review(loaded)
    assert (finding.rule, finding.key) == (
        "not-reproducible", "simulation.dispatch_latency.measured",
    )  # fmt: skip
    manifest = run(loaded.scenario, tmp_path / "measured").directory.manifest
    assert not manifest.reproducible
    assert "dispatch latency" in manifest.not_reproducible_because[0]
    fixed = read_scenario(write(tmp_path, "{fixed: 2}"))
    assert review(fixed) == []
    assert run(fixed.scenario, tmp_path / "fixed").directory.manifest.reproducible


def test_loss_of_capacity_by_hand(tmp_path: Path) -> None:
    """The example of the documentation: what is lost in seconds 0 to 22 of 23, on two cores.

    0 to 3: 1 core a second, for job 1; 3 to 5: 2, for jobs 1 and 2; 5 to 10: 1, for job 2; 10 to
    12: no job waits; 12 to 16: 1, as job 3 waits for two and one is free; 16 to 22: 2.
    In all 3 + 4 + 5 + 4 + 12 = 28 of 2 · 23.
    """
    path = write(tmp_path, "{fixed: 5s}")
    result = run(path, tmp_path / "out")
    assert result.summary["metrics"]["loss_of_capacity"] == pytest.approx(28 / 46, rel=1e-15)
    assert main(["verify", str(tmp_path / "out")]) == 0
    records = RunRecords(tmp_path / "out")
    tables = RunTables(records.jobs, records.rounds, {"core": 2})
    assert loss_of_capacity(tables) == result.summary["metrics"]["loss_of_capacity"]


@pytest.mark.parametrize("observers", ["[]", "[reasons]"])
@pytest.mark.parametrize("dispatcher", ["list", "easy", "conservative"])
def test_a_round_in_which_all_jobs_are_held_back(
    dispatcher: str, observers: str, tmp_path: Path
) -> None:
    """It is charged nothing and takes no time, and the audit agrees.

    A failure from 13 to 17 holds back job 1, of 14, and at 17 there is a decision to wait for
    until 19. Job 2 waits for job 3, which runs from 26 to 28, and a second more.
    """
    jobs = (
        "1 14 -1 5 1 -1 -1 1 5 -1 1 1 1 1 1 1 -1 -1",
        "3 24 -1 2 1 -1 -1 1 2 -1 1 1 1 1 1 1 -1 -1",
        "2 25 -1 3 1 -1 -1 1 3 -1 1 1 1 1 1 1 3 1",
    )
    (tmp_path / "trace.swf").write_text("\n".join(jobs))
    (tmp_path / "failures.csv").write_text("node,from,until\nnode-0,13,17\n")
    path = tmp_path / "held.yaml"
    path.write_text(f"""\
name: held
system: {{groups: [{{name: node, count: 1, resources: {{core: 1}}}}]}}
outages: {{failure_log: failures.csv}}
trace: {{source: swf, path: trace.swf, unit: {{core: 1}}, dependencies: honour}}
dispatcher: {dispatcher}
observers: {observers}
simulation: {{dispatch_latency: {{fixed: 2}}}}
""")
    result = run(path, tmp_path / "out")
    starts = {row["job_id"]: row["start_time"] for row in result.jobs.to_pylist()}
    assert starts == {1: 19, 3: 26, 2: 31}
    rounds = pq.read_table(tmp_path / "out" / "rounds.parquet").to_pylist()
    held = [row for row in rounds if row["now"] in (14, 26, 28)]
    assert [(row["now"], row["latency"], row["decision_time"]) for row in held] == [
        (14, 0, 0.0),
        (26, 0, 0.0),
        (28, 0, 0.0),
    ]
    assert main(["verify", str(tmp_path / "out")]) == 0


@pytest.mark.parametrize(
    ("latencies", "message"),
    [
        ([5, 5, 6, 5], "rounds in order of time, one at a time: expected True, found False"),
        ([5, 5, 4, 4], "second 22: jobs started by rounds: expected 1, found 0"),
        ([5, 4, 5, 5], "second 9: jobs started by rounds: expected 0, found 1"),
        ([5, 5, -5, 5], "rounds in order of time, one at a time: expected True, found False"),
    ],
)
def test_wrong_latencies_are_found(
    latencies: list[int], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The audit sees that rounds do not overlap, and that jobs start when they are carried out."""
    run(write(tmp_path, "{fixed: 5s}"), tmp_path / "out")
    path = tmp_path / "out" / "rounds.parquet"
    table = pq.read_table(path)
    rows = [
        row | {"latency": latency}
        for row, latency in zip(table.to_pylist(), latencies, strict=True)
    ]
    pq.write_table(table.from_pylist(rows, schema=table.schema), path)
    assert main(["verify", str(tmp_path / "out")]) == 1
    assert message in capsys.readouterr().out


def test_the_event_log_goes_by_time(tmp_path: Path) -> None:
    """A round is logged when its decision is carried out."""
    scenario = load_scenario(write(tmp_path, "{fixed: 5s}"), ["observers=[event-log]"])
    run(scenario, tmp_path / "out")
    lines = (tmp_path / "out" / "events.jsonl").read_text().splitlines()
    events = [json.loads(line) for line in lines]
    assert [event["time"] for event in events] == sorted(event["time"] for event in events)
    assert [event["time"] for event in events if event["event"] == "round"] == [5, 10, 17, 22]


KTH = """\
name: kth-late
system: {groups: [{name: node, count: 100, resources: {core: 1}}]}
trace: {source: swf, path: PATH, unit: {core: 1}, jobs: 1000}
dispatcher: DISPATCHER
simulation: {dispatch_latency: {fixed: 30s}}
"""


@pytest.mark.parametrize("dispatcher", ["easy", "list"])
def test_a_real_trace(dispatcher: str, tmp_path: Path) -> None:
    """The first thousand jobs of KTH-SP2 pass the audit; they wait for 30 s at least."""
    path = tmp_path / "kth.yaml"
    path.write_text(KTH.replace("PATH", str(trace(KTH_SP2))).replace("DISPATCHER", dispatcher))
    late = run(path, tmp_path / "late").summary
    assert main(["verify", str(tmp_path / "late")]) == 0
    assert late["jobs"]["completed"] == 1000
    assert late["percentiles"]["wait_time"]["p50"] >= 30
    at_once = run(load_scenario(path, ["simulation.dispatch_latency=null"]), tmp_path / "at-once")
    assert main(["verify", str(tmp_path / "at-once")]) == 0
    assert at_once.summary["metrics"]["mean_wait_time"] < late["metrics"]["mean_wait_time"]
