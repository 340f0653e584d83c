"""The plugin context: the parts of a scenario that a plugin's factory may use."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

# The context stands below the packages whose types it names, so it must not import them.
if TYPE_CHECKING:
    from hpcsched.dispatching.problem import Objective
    from hpcsched.system.system import System
    from hpcsched.workload.site_partitions import Partitions


class Context(Protocol):
    """The parts of a scenario that a factory may use beside its own parameters."""

    @property
    def system(self) -> "System":
        """System of the scenario."""

    @property
    def partitions(self) -> "Partitions":
        """Partitions of the scenario, maybe none."""

    @property
    def objective(self) -> "Objective":
        """Objective of the scenario."""

    @property
    def seed(self) -> int:
        """Seed for this plugin alone, spawned from the scenario's."""

    @property
    def folder(self) -> Path:
        """Run directory, for observers that write a file of their own."""

    def make(self, kind: str, choice: Any) -> Any:
        """Build another plugin, chosen by a field marked with `Selects(kind)`."""
