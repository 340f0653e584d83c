"""The transform `scale-sizes`, by hand."""

from types import SimpleNamespace

from hpcsched.workload.transform import TransformAccount
from hpcsched.workload.transforms.job_changes import ScaleSizes, ScaleSizesParams
from tests.builders import alike, traced

CONTEXT = SimpleNamespace(system=alike(4, core=1), seed=7)


def test_drawn_by_the_job_s_number() -> None:
    """One unit × 1.3: two units if the job's share is below 0.3.

    `printf 7/1 | sha256sum` begins with d3d2, 7/2 with 1b8b, 7/3 with 653e: 0.83, 0.11 and 0.40.
    """
    scale = ScaleSizes(ScaleSizesParams(factor=1.3), CONTEXT)
    account = TransformAccount()
    jobs = list(scale.apply(iter([traced(k, k, 1, 60) for k in (1, 2, 3)]), account))
    assert [one.job.units for one in jobs] == [1, 2, 1]
    assert account.counts.changed == {"size_scaled": 1}


def test_too_large() -> None:
    """Twice 3 units do not fit on 4 cores: as many as fit."""
    scale = ScaleSizes(ScaleSizesParams(factor=2), CONTEXT)
    account = TransformAccount()
    jobs = list(scale.apply(iter([traced(1, 0, 3, 60)]), account))
    assert [one.job.units for one in jobs] == [4]
    assert account.counts.clipped == {"scaled_too_large": 1}
