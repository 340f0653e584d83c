"""Draws of jobs from shared resources, and jobs that could never run, by hand."""

import numpy as np
import pytest

from hpcsched.simulation.records import REFUSALS
from hpcsched.simulation.replay_admission import SharedResourceAdmission
from hpcsched.system.shared_resources import Change, Draw, SharedResource
from hpcsched.system.system import NodeGroup, System
from hpcsched.workload.job_batches import JobColumns, RequestNumbers, columns_of
from tests.builders import alike, traced

OVER = REFUSALS.index("over_shared_resource")


def with_licences(*changes: Change, every: int | None = None) -> System:
    """Return two nodes, and three licences, of which a job draws one for each core."""
    licences = SharedResource("licence", 3, Draw(per={"core": 1}), changes, every)
    return System((NodeGroup("node", 2, {"core": 4}),), shared_resources=(licences,))


def batch() -> JobColumns:
    """Return jobs that draw one, three and four licences."""
    jobs = [traced(1, 0, 1, 50), traced(2, 0, 3, 50), traced(3, 0, 4, 50)]
    (columns,) = columns_of(jobs, RequestNumbers())
    return columns


NONE = np.full(3, -1)


def test_draws() -> None:
    """They are the same wherever the job runs."""
    draws = SharedResourceAdmission(with_licences()).begin(batch())
    assert draws.tolist() == [[1], [3], [4]]


def test_no_shared_resources() -> None:
    """Nothing is drawn."""
    assert SharedResourceAdmission(alike(2, core=4)).begin(batch()).shape == (3, 0)


@pytest.mark.parametrize(
    ("predicted", "refused"), [((50, 50, 50), (-1, -1, OVER)), ((50, 101, 50), (-1, OVER, OVER))]
)
def test_jobs_that_could_never_run(predicted: tuple[int, ...], refused: tuple[int, ...]) -> None:
    """Four licences are too many; three are there for 100 s at a time, every 200 s."""
    changes = (Change(0, 3), Change(100, 1))
    admission = SharedResourceAdmission(with_licences(*changes, every=200))
    admission.begin(batch())
    found = NONE.copy()
    admission.refuse(found, np.array(predicted))
    assert found.tolist() == list(refused)
    assert [admission.refusal(k, time) for k, time in enumerate(predicted)] == list(refused)


def test_a_job_that_is_refused_already() -> None:
    """It keeps its reason."""
    admission = SharedResourceAdmission(with_licences())
    admission.begin(batch())
    found = np.array([-1, -1, 0])
    admission.refuse(found, np.array([50, 50, 50]))
    assert found.tolist() == [-1, -1, 0]
