"""What running jobs that have outlived their predictions are said to need."""

import pytest

from hpcsched.errors import InputError, PluginError
from hpcsched.prediction.predictor import Correction, Doubling, OneSecond, ToRequestedTime
from hpcsched.runs.assembly import assemble, parts_of
from hpcsched.scenario import load_scenario
from hpcsched.simulation.event_loop import simulate
from hpcsched.testing import sample_workloads
from hpcsched.workload.job import Job, TracedJob
from tests.builders import Spy, alike, easy, lists, parts, replay, traced

CORRECTIONS = (OneSecond(), Doubling(), ToRequestedTime())


class Says:
    """Predicts run times from a list, by job number, and believes the user otherwise."""

    def __init__(self, run_times: dict[int, int]) -> None:
        self._run_times = run_times

    def predict(self, job: Job) -> int:
        """Return what the list says."""
        return self._run_times.get(job.job_id, job.requested_time)

    def observe(self, job: Job, run_time: int) -> None:
        """Learn nothing."""


class Halves:
    """Predicts half of what was requested, which is often too little."""

    def predict(self, job: Job) -> int:
        """Return it."""
        return max(1, job.requested_time // 2)

    def observe(self, job: Job, run_time: int) -> None:
        """Learn nothing."""


class Answers:
    """A correction that always answers the same."""

    def __init__(self, answer: object) -> None:
        self._answer = answer

    def correct(self, job: Job, predicted_run_time: int, elapsed: int) -> object:
        """Return it."""
        return self._answer


class Fails:
    """A correction that fails."""

    def correct(self, job: Job, predicted_run_time: int, elapsed: int) -> int:
        """Raise an error."""
        raise ZeroDivisionError("a fault of its own")


class Diary:
    """A correction that notes what it is asked, and adds ten seconds."""

    def __init__(self) -> None:
        self.notes: list[tuple[int, int, int]] = []

    def correct(self, job: Job, predicted_run_time: int, elapsed: int) -> int:
        """Note the question."""
        self.notes.append((job.job_id, predicted_run_time, elapsed))
        return elapsed + 10


def seen_ends(
    correction: Correction, jobs: list[TracedJob], predicted: dict[int, int]
) -> dict[int, dict[int, int]]:
    """Return what each round, by its instant, is told of the ends of running jobs, by number."""
    seen: dict[int, dict[int, int]] = {}

    def look(problem, _decision) -> None:
        seen[problem.now] = {job.job_id: job.predicted_end_time for job in problem.running}

    given = {"predictor": Says(predicted), "correction": correction}
    simulate(parts(alike(4, core=1), Spy(easy(), look), **given), jobs)
    return seen


# Job 1 is predicted to end at 10 and ends at 95; others come and have a round held meanwhile.
ARRIVALS = (5, 12, 15, 20, 21, 45, 90)
LONG = [
    traced(1, 0, 1, 95, requested_time=60),
    *(traced(2 + k, at, 1, 1) for k, at in enumerate(ARRIVALS)),
]


@pytest.mark.parametrize(
    ("correction", "ends"),
    [
        (OneSecond(), (10, 13, 16, 21, 22, 46, 91)),
        (Doubling(), (10, 20, 20, 40, 40, 60, 160)),
        (ToRequestedTime(), (10, 60, 60, 60, 60, 60, 91)),
    ],
    ids=["one-second", "doubling", "requested-time"],
)
def test_what_dispatchers_are_told(correction: Correction, ends: tuple[int, ...]) -> None:
    """A corrected prediction holds until it runs out, and then is corrected again."""
    seen = seen_ends(correction, LONG, {1: 10})
    assert tuple(seen[at][1] for at in ARRIVALS) == ends


def test_asked_only_when_a_prediction_has_run_out() -> None:
    """The first prediction is passed on each time, and one answer serves as long as it holds."""
    diary = Diary()
    seen_ends(diary, LONG, {1: 10})
    assert diary.notes == [(1, 10, 12), (1, 10, 45), (1, 10, 90)]


def test_a_prediction_that_runs_out_in_the_next_second_stands() -> None:
    """At 10, job 1 has outlived its 10 s; job 2, of 11 s, has a second to go."""
    diary = Diary()
    jobs = [traced(1, 0, 1, 20), traced(2, 0, 1, 20), traced(3, 10, 1, 1)]
    seen = seen_ends(diary, jobs, {1: 10, 2: 11})
    assert seen[10] == {1: 20, 2: 11}
    assert diary.notes == [(1, 10, 10)]


def test_never_asked_where_nothing_runs_out() -> None:
    """With requested times that hold, a correction has nothing to say."""
    diary = Diary()
    seen_ends(diary, [traced(1, 0, 1, 50), traced(2, 10, 1, 5), traced(3, 40, 1, 5)], {})
    assert diary.notes == []


@pytest.mark.parametrize("correction", CORRECTIONS, ids=["one-second", "doubling", "requested"])
@pytest.mark.parametrize("aggregated", [True, False], ids=["aggregated", "node level"])
@pytest.mark.parametrize("seed", range(4))
def test_running_jobs_are_in_order(correction: Correction, aggregated: bool, seed: int) -> None:
    """Each problem has the running jobs by predicted end, all of them in the future."""
    workload = sample_workloads(seed)[0]
    corrected = 0

    def look(problem, _decision) -> None:
        nonlocal corrected
        ends = [job.predicted_end_time for job in problem.running]
        assert ends == sorted(ends)
        assert not ends or ends[0] > problem.now
        corrected += sum(
            job.predicted_end_time > job.start_time + job.waiting.predicted_run_time
            for job in problem.running
        )

    recorder = replay(
        workload.system,
        Spy(lists("sjf"), look),
        workload.jobs,
        predictor=Halves(),
        correction=correction,
        uniform_request=(1,) if aggregated else None,
    )
    assert len(recorder.jobs) == len(workload.jobs)
    assert corrected > 0


def test_one_second_shows_jobs_in_the_order_of_their_first_predictions() -> None:
    """Of jobs that are said to end together, those that were to end earlier come first.

    Job 5 was to end at 9 and job 4 at 10; at 11, job 1 is still within its prediction of 12.
    """
    jobs = [
        traced(1, 0, 1, 20, requested_time=12),
        traced(4, 0, 1, 20, requested_time=10),
        traced(5, 0, 1, 20, requested_time=9),
        traced(6, 11, 1, 1),
    ]
    shown: list[list[tuple[int, int]]] = []

    def look(problem, _decision) -> None:
        shown.append([(job.job_id, job.predicted_end_time) for job in problem.running])

    replay(alike(4, core=1), Spy(easy(), look), jobs, predictor=Says({}))
    assert shown[-1] == [(5, 12), (4, 12), (1, 12)]


@pytest.mark.parametrize("answer", [15, 3, -1, 16.0, None, "20", True])
def test_an_answer_that_is_none(answer: object) -> None:
    """An answer must be a whole number of seconds above those elapsed; the error names the job."""
    expected = r"^correction Answers, job 1: expected a whole number of seconds above 15, found "
    jobs = [traced(1, 0, 1, 60), traced(2, 15, 1, 5)]
    with pytest.raises(PluginError, match=expected) as caught:
        replay(alike(2, core=1), easy(), jobs, predictor=Says({1: 10}), correction=Answers(answer))
    assert str(caught.value).endswith(repr(answer))


def test_a_correction_that_fails() -> None:
    """What a correction raises is an error that names it and the job."""
    jobs = [traced(1, 0, 1, 60), traced(2, 15, 1, 5)]
    with pytest.raises(PluginError, match=r"^correction Fails, job 1: raised ZeroDivisionError: "):
        replay(alike(2, core=1), easy(), jobs, predictor=Says({1: 10}), correction=Fails())


SCENARIO = """\
name: corrected
system: {{groups: [{{name: node, count: 16, resources: {{core: 1}}}}]}}
trace: {{source: swf, path: trace.swf}}
predictor: actual
dispatcher: easy
{correction}
"""


@pytest.mark.parametrize(
    ("line", "correction"),
    [
        ("", OneSecond),
        ("correction: doubling", Doubling),
        ("correction: {name: requested-time}", ToRequestedTime),
    ],
)
def test_chosen_in_a_scenario(line: str, correction: type, tmp_path) -> None:
    """The key `correction` selects it; one second is what nothing says."""
    path = tmp_path / "scenario.yaml"
    (tmp_path / "trace.swf").write_text("", encoding="utf-8")
    path.write_text(SCENARIO.format(correction=line), encoding="utf-8")
    assembly = assemble(load_scenario(path))
    assert type(assembly.correction) is correction
    assert parts_of(assembly, ()).correction is assembly.correction


def test_an_unknown_name(tmp_path) -> None:
    """A correction that there is none of is refused where it is named."""
    path = tmp_path / "scenario.yaml"
    path.write_text(SCENARIO.format(correction="correction: tripling"), encoding="utf-8")
    with pytest.raises(InputError, match=r"scenario.yaml:6:13: .*no correction is called") as error:
        load_scenario(path)
    assert "doubling" in str(error.value)
