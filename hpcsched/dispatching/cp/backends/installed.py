"""The Python packages of solvers, and whether they are there; takes no time to import."""

from importlib.util import find_spec
from typing import NamedTuple

from hpcsched.errors import PluginError


class Package(NamedTuple):
    """What a solver needs: a module, the package that has it, and the extra of hpcsched."""

    solver: str
    module: str
    name: str

    def require(self) -> None:
        """Raise PluginError, saying what to install, where the package is absent."""
        if find_spec(self.module) is None:
            raise PluginError(
                f"solver {self.solver}: the package {self.name} is not installed;"
                f" pip install 'hpcsched[{self.solver}]'"
            )


CHOCO = Package("choco", "pychoco", "pychoco")
PUMPKIN = Package("pumpkin", "pumpkin_solver", "pumpkin-solver")
Z3 = Package("z3", "z3", "z3-solver")
EXACT = Package("exact", "exact", "exact")
CPO = Package("cpo", "docplex", "docplex")
