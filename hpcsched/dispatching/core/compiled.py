"""Functions that run as machine code, made by numba, or as the plain Python that they are.

Nothing here imports numba, which takes time: that is done where such a function is first called.
"""

import sys
from collections.abc import Callable
from functools import cached_property, update_wrapper
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from hpcsched.dispatching.core.machine_code import MachineFunction

_Function = TypeVar("_Function", bound=Callable[..., object])


class Compiled:
    """A function that is compiled, when it is called, for the types that it is called with.

    Parameters
    ----------
    function : Callable
        What is compiled.
    plainly : Callable, optional
        What does the same in Python, where the function itself cannot run there.
    """

    def __init__(self, function: Any, plainly: Callable[..., Any] | None = None) -> None:
        update_wrapper(self, function)
        self.py_func = function
        self._plainly = plainly

    @cached_property
    def machine(self) -> "MachineFunction":
        """What compiles the function, and calls what was compiled."""
        from hpcsched.dispatching.core.machine_code import machine_function  # noqa: PLC0415 (numba)

        return machine_function(self.py_func)

    @cached_property
    def plain(self) -> Callable[..., Any]:
        """The function in plain Python, with all that it calls: slow, but there at once."""
        if self._plainly is not None:
            return self._plainly
        function = self.py_func
        names = _plain_names(function.__module__)
        return FunctionType(function.__code__, names, function.__name__)

    def __call__(self, *arguments: Any) -> Any:
        """Call the machine code."""
        return self.machine(*arguments)

    def is_there(self, types: tuple[Any, ...]) -> bool:
        """Say whether it has been compiled for Python; see `is_compiled`."""
        return bool(cast(Any, self.machine).is_there(types))

    @property
    def _numba_type_(self) -> Any:
        """What numba takes the function for where compiled code calls it."""
        return cast(Any, self.machine)._numba_type_


_names: dict[str, dict[str, Any]] = {}


def _plain_names(module: str) -> dict[str, Any]:
    """Return the names of a module, those of compiled functions standing for plain ones."""
    names = _names.get(module)
    if names is None:
        names = _names[module] = dict(vars(sys.modules[module]))
        for name, value in list(names.items()):
            if isinstance(value, Compiled):
                names[name] = value.plain
    return names


def compiled(plainly: Callable[..., Any] | None = None) -> Callable[[_Function], _Function]:
    """Return a decorator that has a function be compiled for the types that it is called with.

    What is compiled for Python is kept beside the module, or else in the user's cache folder, and
    found there by the next process; where neither can be written, each process compiles for itself.
    While it runs, other threads run as well. `plainly` does the same in plain Python where the
    function cannot be called there.
    """

    def compile_function(function: _Function) -> _Function:
        return cast(_Function, Compiled(function, plainly))

    return compile_function


def plain(function: _Function) -> _Function:
    """Return a compiled function, with all that it calls, in plain Python."""
    return cast(_Function, cast(Any, function).plain)


def is_compiled(function: Any, *types: Any) -> bool:
    """Say whether a function has been compiled, here or by a process before.

    Such a one has left it in the cache, unless the function has changed since. It is asked about
    first arguments of given types, as numba names them, or about any; a function of a state about
    the kinds of its fields.
    """
    return bool(function.is_there(types))
