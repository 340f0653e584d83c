"""Functions that run as machine code, compiled by numba, or as plain Python.

Nothing here imports numba, which takes time: that happens when such a function is first called.
"""

import sys
from collections.abc import Callable
from functools import cached_property, update_wrapper
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeVar, cast

from hpcsched.dispatching.core.compile_time import compiling

if TYPE_CHECKING:
    from hpcsched.dispatching.core.machine_code import MachineFunction

_Function = TypeVar("_Function", bound=Callable[..., object])


class Compiled:
    """Function that is compiled on its first call, for the types of its arguments.

    Parameters
    ----------
    function
        Function to compile.
    plainly
        Equivalent for plain Python, if the function itself cannot run there.
    """

    def __init__(self, function: Any, plainly: Callable[..., Any] | None = None) -> None:
        update_wrapper(self, function)
        self.py_func = function
        self._plainly = plainly

    @cached_property
    def machine(self) -> "MachineFunction":
        """Compiler and dispatcher of the function's machine code."""
        with compiling(anew=False):
            from hpcsched.dispatching.core.machine_code import (  # noqa: PLC0415 (numba)
                machine_function,
            )

            return machine_function(self.py_func)

    @cached_property
    def plain(self) -> Callable[..., Any]:
        """The function in plain Python, with its callees: slow, but available at once."""
        if self._plainly is not None:
            return self._plainly
        function = self.py_func
        names = _plain_names(function.__module__)
        return FunctionType(function.__code__, names, function.__name__)

    def __deepcopy__(self, _: object) -> "Compiled":
        # As of any function, there is one.
        return self

    def __call__(self, *arguments: Any) -> Any:
        """Call the machine code."""
        return self.machine(*arguments)

    def is_there(self, types: tuple[Any, ...]) -> bool:
        """Check whether the function has been compiled for Python callers; see `is_compiled`."""
        return bool(cast(Any, self.machine).is_there(types))

    @property
    def _numba_type_(self) -> Any:
        """Type of the function for numba, where compiled code calls it."""
        return cast(Any, self.machine)._numba_type_


_names: dict[str, dict[str, Any]] = {}


def _plain_names(module: str) -> dict[str, Any]:
    """Return the globals of a module, with compiled functions replaced by plain ones."""
    names = _names.get(module)
    if names is None:
        names = _names[module] = dict(vars(sys.modules[module]))
        for name, value in list(names.items()):
            if isinstance(value, Compiled):
                names[name] = value.plain
    return names


def compiled(plainly: Callable[..., Any] | None = None) -> Callable[[_Function], _Function]:
    """Return a decorator that compiles a function for the types of its arguments.

    Machine code for Python callers is stored beside the module, or else in the user's cache folder,
    and found there by the next process; where neither is writable, each process compiles for
    itself. Other threads run while the function does.

    Parameters
    ----------
    plainly
        Equivalent for plain Python, if the function itself cannot run there.

    Returns
    -------
    Callable[[_Function], _Function]
        The decorator.
    """

    def compile_function(function: _Function) -> _Function:
        return cast(_Function, Compiled(function, plainly))

    return compile_function


def plain(function: _Function) -> _Function:
    """Return a compiled function in plain Python, with its callees."""
    return cast(_Function, cast(Any, function).plain)


def is_compiled(function: Any, *types: Any) -> bool:
    """Check whether a function has been compiled, here or by an earlier process.

    Code of an earlier process is in the cache, unless the function has changed since.

    Parameters
    ----------
    function
        A compiled function.
    types
        Types of its first arguments, as numba names them; for a function of a state, the kinds of
        its fields. None given: any types.

    Returns
    -------
    bool
        Whether a call would not compile.
    """
    return bool(function.is_there(types))
