"""Executor `dask` without importing Dask: parameters, packages, factory."""

from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from hpcsched.errors import PluginError
from hpcsched.parameters import Params, PositiveAmount, PositiveDuration
from hpcsched.registration import Caution, builtin
from hpcsched.studies.executors.executor import Executor

ClusterKind = Literal["slurm", "pbs", "sge", "lsf", "oar"]


class JobQueue(Params):
    """Cluster with a batch system, to which jobs with workers in them are submitted."""

    cluster: ClusterKind = Field(description="The batch system, as dask-jobqueue knows it.")
    jobs: int = Field(default=1, ge=1, description="Number of batch jobs to submit.")
    cores: int = Field(
        default=1, ge=1, description="Cores of each job, with one worker process each."
    )
    memory: PositiveAmount = Field(description="The memory of each job.")
    walltime: PositiveDuration = Field(description="Time limit of each job.")
    queue: str | None = Field(default=None, description="The queue or partition to submit to.")
    account: str | None = Field(default=None, description="Account that is charged for the jobs.")
    options: dict[str, Any] = Field(
        default_factory=dict,
        description="Other arguments of dask-jobqueue's class, such as job_extra_directives.",
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
    ship: bool = Field(
        default=False,
        description=(
            "Send traces to the workers and results back, so that workers need no shared file"
            " system."
        ),
    )

    @model_validator(mode="after")
    def _check_one(self) -> Self:
        given = [
            name for name in ("address", "workers", "jobqueue") if getattr(self, name) is not None
        ]
        if len(given) != 1:
            found = f"found {' and '.join(given)}" if given else "found none of them"
            raise ValueError(f"expected one of 'address', 'workers' and 'jobqueue', {found}")
        return self


def missing_packages(params: DaskParams) -> list[str]:
    """Return the packages that the parameters need and that are not installed."""
    wanted = {"dask": "dask", "distributed": "distributed"}
    if params.jobqueue is not None:
        wanted["dask_jobqueue"] = "dask-jobqueue"
    return [package for module, package in wanted.items() if find_spec(module) is None]


def what_to_install(params: DaskParams) -> str | None:
    """Return the command that installs missing packages; None if none is missing."""
    missing = missing_packages(params)
    if not missing:
        return None
    verb = "is" if len(missing) == 1 else "are"
    return f"executor dask: {', '.join(missing)} {verb} not installed; pip install 'hpcsched[dask]'"


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
