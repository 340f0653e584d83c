"""Checks of the names of resource types and shared resources that requests of a trace use."""

from collections.abc import Iterable
from pathlib import Path

from hpcsched.errors import Finding, InputError, Place
from hpcsched.system.system import System


def check_types(system: System, names: Iterable[str], path: Path, key: str, hint: str = "") -> None:
    """Check that the system has some resource types.

    Raises
    ------
    InputError
        If no node group has one of them.
    """
    unknown = [name for name in names if name not in system.resource_types]
    if unknown:
        message = (
            f"a unit asks for {', '.join(unknown)}, which no node group has; there are:"
            f" {', '.join(system.resource_types)}{hint}"
        )
        raise InputError(Finding("unknown-resource-type", message, Place(str(path)), key=key))


def check_draws(system: System, names: Iterable[str], path: Path, key: str) -> set[str]:
    """Return the names of shared resources, after a check that records may request some of them.

    Raises
    ------
    InputError
        If jobs draw from one of them by a model.
    """
    draws = {resource.name: resource.draw for resource in system.shared_resources}
    modelled = [name for name in names if name in draws and not draws[name].traced]
    if modelled:
        message = (
            f"a unit asks for {modelled[0]}, a shared resource from which jobs draw by a model;"
            " only of one with 'draw: as_the_trace_says' the trace can ask for anything"
        )
        raise InputError(Finding("bad-value", message, Place(str(path)), key=key))
    return set(draws)
