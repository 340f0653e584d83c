"""Executor `dask` without importing Dask: parameters and factory."""

from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from hpcsched.errors import PluginError
from hpcsched.parameters import Params
from hpcsched.registration import Caution, builtin
from hpcsched.studies.executors.executor import Executor


class JobQueue(Params):
    """Cluster with a batch system, to which jobs with workers in them are submitted."""

    cluster: Literal["slurm", "pbs", "sge", "lsf", "oar"] = Field(
        description="The batch system, as dask-jobqueue knows it."
    )
    jobs: int = Field(default=1, ge=1, description="Number of batch jobs to submit.")
    cores: int = Field(
        default=1, ge=1, description="Cores of each job, with one worker process each."
    )
    options: dict[str, Any] = Field(
        default_factory=dict,
        description=(
            "Other arguments of dask-jobqueue's class, such as memory: 16GiB,"
            " walltime: '02:00:00', queue or account."
        ),
    )


class DaskParams(Params):
    """Place of the workers: exactly one of `address`, `workers` and `jobqueue`."""

    address: str | None = Field(
        default=None,
        min_length=1,
        description="Address of an existing scheduler, such as tcp://host:8786.",
    )
    workers: int | None = Field(
        default=None,
        ge=1,
        description="Number of worker processes, of one thread each, to start on this machine.",
    )
    jobqueue: JobQueue | None = Field(
        default=None, description="Batch system that starts the workers."
    )

    @model_validator(mode="after")
    def _check_one(self) -> Self:
        if [self.address, self.workers, self.jobqueue].count(None) != 2:
            raise ValueError("expected one of 'address', 'workers' and 'jobqueue'")
        return self


def what_to_install(params: DaskParams) -> str | None:
    """Return the command that installs missing packages; None if none is missing."""
    wanted = {"dask": "dask", "distributed": "distributed"}
    if params.jobqueue is not None:
        wanted["dask_jobqueue"] = "dask-jobqueue"
    missing = [package for module, package in wanted.items() if find_spec(module) is None]
    if not missing:
        return None
    return f"executor dask: not installed: {', '.join(missing)}; pip install 'hpcsched[dask]'"


def review_dask(params: DaskParams, _system: object) -> Iterator[Caution]:
    """Yield an error if packages are missing, with the command that installs them."""
    missing = what_to_install(params)
    if missing:
        yield Caution("not-installed", missing, severity="error")


@builtin(
    "executor",
    "dask",
    DaskParams,
    summary="workers of a Dask cluster: here, at an address, or started by a batch system",
    review=review_dask,
)
def make_dask(params: DaskParams, _folder: object) -> Executor:
    """Return the executor."""
    missing = what_to_install(params)
    if missing:
        raise PluginError(missing)
    from hpcsched.studies.executors.dask_cluster import DaskExecutor  # noqa: PLC0415

    return DaskExecutor(params)
