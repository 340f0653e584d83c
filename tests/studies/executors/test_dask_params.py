"""Parameters of the executor `dask`, and the packages that they need."""

import pytest

from hpcsched.studies.executors.executor import DaskParams, JobQueue, what_to_install


def test_exactly_one_kind_of_cluster() -> None:
    """Nothing, or two of them, are refused."""
    for parameters in ({}, {"workers": 1, "address": "tcp://a:1"}):
        with pytest.raises(ValueError, match="expected one of 'address', 'workers'"):
            DaskParams(**parameters)


def test_limits_of_batch_jobs() -> None:
    """There cannot be more at least than at most."""
    with pytest.raises(ValueError, match="expected least_jobs up to jobs, found 3"):
        JobQueue(cluster="slurm", jobs=2, least_jobs=3)


def test_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """dask-jobqueue is asked for only where a batch system is."""
    monkeypatch.setattr(
        "hpcsched.studies.executors.executor.find_spec",
        lambda name: name != "dask_jobqueue" or None,
    )
    assert what_to_install(DaskParams(workers=1)) is None
    queue = JobQueue(cluster="slurm")
    assert what_to_install(DaskParams(jobqueue=queue)) == (
        "executor dask: not installed: dask-jobqueue; pip install 'hpcsched[dask]'"
    )
