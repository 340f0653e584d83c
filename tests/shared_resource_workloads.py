"""Random workloads for systems with shared resources, and an audit of their replays."""

from hypothesis import strategies as st

from hpcsched.system.shared_resources import Change, Draw, SharedResource
from hpcsched.system.system import System
from hpcsched.testing import audit_replay
from tests.builders import Told, changed_request, replay
from tests.strategies import Workload, mixed_workloads

DRAWS = [
    Draw({"core": 2}, per_node=1),
    Draw(per_node=3),
    Draw({"core": 1}, per_job=2),
    Draw(traced=True),
]


@st.composite
def _resource(draw, name: str, every: int | None, *, traced: bool) -> SharedResource:
    latest = 20 if every is None else every - 1
    times = sorted(draw(st.sets(st.integers(0, latest), max_size=3)))
    changes = tuple(Change(time, draw(st.integers(0, 20))) for time in times)
    return SharedResource(
        name,
        draw(st.integers(2, 20)),
        draw(st.sampled_from(DRAWS if traced else DRAWS[:-1])),
        changes,
        every if changes else None,
    )


@st.composite
def shared_resource_workloads(
    draw, predictions: str = "wrong", max_jobs: int = 7, *, traced: bool = True
) -> Workload:
    """Draw unlike jobs on unlike nodes, and one or two shared resources that may change.

    With `traced`, draws may be what the trace says.
    """
    workload = draw(mixed_workloads(predictions, max_jobs))
    recurs = draw(st.booleans())
    shared_resources = [draw(_resource("power", 24 if recurs else None, traced=traced))]
    if draw(st.booleans()):
        shared_resources.append(draw(_resource("licence", 12 if recurs else None, traced=traced)))
    drawn = st.integers(0, 5)
    jobs = tuple(
        item._replace(
            job=changed_request(
                item.job, shared_requests=(("power", draw(drawn)), ("licence", draw(drawn)))
            )
        )
        for item in workload.jobs
    )
    system = System(workload.system.groups, {}, tuple(shared_resources))
    return Workload(system, jobs, workload.predictions)


def audited(dispatcher, workload: Workload, **more):
    """Return the recorder of a replay in which no job is lost and no shared resource overdrawn."""
    recorder = replay(
        workload.system, dispatcher, workload.jobs, predictor=Told(workload.predictions), **more
    )
    records = list(recorder.jobs.values())
    audit_replay(records, workload.jobs, workload.system)
    assert len(records) == len(workload.jobs)
    assert {record.rejected_by for record in records} <= {None, "over_shared_resource"}
    return recorder
