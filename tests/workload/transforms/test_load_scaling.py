"""The transform `scale-load`, by hand."""

from hpcsched.workload.transform import TransformAccount
from hpcsched.workload.transforms.job_transforms import ScaleLoad, ScaleLoadParams
from tests.workload.transforms.chains import submitted, times


def test_each_time_is_rounded_from_the_first_submission() -> None:
    """5, 10 and 15 s after 1000 at a load of 2: 2.5, 5 and 7.5, halves rounded up.

    Rounding each gap of 2.5 s up by itself would end at 9 instead of 8.
    """
    account = TransformAccount()
    scale = ScaleLoad(ScaleLoadParams(factor=2))
    found = times(list(scale.apply(iter(submitted([1000, 1005, 1010, 1015])), account)))
    assert found == [1000, 1003, 1005, 1008]
    assert account.counts.changed == {"submit_time_scaled": 3}
