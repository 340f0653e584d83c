"""Workload manager `state-file`: a cluster described by a JSON file.

It allows advice about a cluster that cannot be reached, or that no plugin reads.
"""

from collections.abc import Sequence
from pathlib import Path

from pydantic import Field, TypeAdapter, ValidationError

from hpcsched.errors import Finding, InputError, Place
from hpcsched.parameters import InputPath, Params
from hpcsched.paths import read_file
from hpcsched.registration import builtin
from hpcsched.system.cluster import ClusterJob, ClusterState, RefusedError

# Built once: the validator of nested tuples is expensive to make.
_STATE = TypeAdapter(ClusterState)


class StateFileParams(Params):
    """Parameters of `state-file`: the path of the file."""

    path: InputPath = Field(
        description="A JSON file with `nodes` and `jobs`, lists of objects whose keys are the"
        " fields of hpcsched.system.cluster; ${VAR} is filled in."
    )


@builtin(
    "workload_manager",
    "state-file",
    StateFileParams,
    summary="the state of a cluster in a JSON file; for advice only",
)
class StateFile:
    """Read-only cluster in a file, which is read again on each call."""

    def __init__(self, params: StateFileParams) -> None:
        self._path = Path(params.path)

    def read(self) -> ClusterState:
        """Return the state in the file.

        Raises
        ------
        InputError
            If the file cannot be read or is damaged.
        """
        try:
            return _STATE.validate_json(read_file(self._path))
        except OSError as error:
            message = f"it cannot be read: {error.strerror}"
            raise InputError(Finding("missing-file", message, Place(str(self._path)))) from error
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"]))
            message = f"it is damaged: {where}: {first['msg']}"
            raise InputError(Finding("damaged-file", message, Place(str(self._path)))) from error

    def start(self, job: ClusterJob, nodes: Sequence[str]) -> None:
        """Raise RefusedError: a file runs no jobs."""
        raise RefusedError(f"job {job.key}: a state in a file cannot be changed")

    def hold(self, job: ClusterJob) -> None:
        """Raise RefusedError: a file runs no jobs."""
        raise RefusedError(f"job {job.key}: a state in a file cannot be changed")
