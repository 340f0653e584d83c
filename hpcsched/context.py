"""The plugin context: the parts of a scenario that a plugin's factory may use."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from hpcsched.dispatching.objective import Objective
    from hpcsched.system.system import System
    from hpcsched.workload.partitions import Partitions


class Context(Protocol):
    """The parts of a scenario that a factory may use beside its own parameters."""

    @property
    def system(self) -> "System":
        """The scenario's system."""

    @property
    def partitions(self) -> "Partitions":
        """The scenario's partitions, maybe none; they tell to which of them a job belongs."""

    @property
    def objective(self) -> "Objective":
        """The scenario's objective."""

    @property
    def seed(self) -> int:
        """A seed for this plugin alone, spawned from the scenario's."""

    @property
    def folder(self) -> Path:
        """The run directory, for observers that write a file of their own."""

    def make(self, kind: str, choice: Any) -> Any:
        """Return what another plugin builds, chosen by a field marked with `Selects(kind)`."""
