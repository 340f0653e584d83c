"""Functions of a state and a number that Python calls as machine code without numba.

numba is imported only to make the machine code. Stored code is loaded by LLVM, in a fifth of the
time that importing numba takes. Each function is compiled when it is first needed and stored by
itself, so that the callee of `call_code` can differ from call to call, and that caller and callee
can be compiled at once.
"""

from collections.abc import Callable
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeVar, cast

from hpcsched.dispatching.core.compile_progress import CompileProgress
from hpcsched.dispatching.core.compile_time import compiling
from hpcsched.dispatching.core.compiled import Compiled, plain

if TYPE_CHECKING:
    from hpcsched.dispatching.core.loaded_code import LoadedCode
    from hpcsched.dispatching.core.machine_state import MachineState
    from hpcsched.dispatching.core.stored_code import ObjectCode

_Function = TypeVar("_Function", bound=Callable[..., object])

_lock = RLock()


class StateFunction(Compiled):
    """Function of a `State` and a number, compiled for each combination of field kinds.

    Parameters
    ----------
    function
        Function to compile; its annotations give the types of the number and of the result.
    """

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        self._loaded: dict[str, LoadedCode] = {}

    def __call__(self, state: "MachineState", number: float) -> Any:
        """Call the machine code, compiling it if needed."""
        return self._code(state.kinds)(state, number)

    def address(self, kinds: str) -> int:
        """Return the address of the machine code for some field kinds, compiling it if needed."""
        return int(self._code(kinds).address)

    def is_there(self, types: tuple[Any, ...]) -> bool:
        """Check whether the function was compiled for some field kinds, here or earlier."""
        (kinds,) = types
        return self._load(kinds) is not None

    def _code(self, kinds: str) -> "LoadedCode":
        code = self._loaded.get(kinds)
        return code or self._load(kinds) or self._make(kinds)

    def _load(self, kinds: str) -> "LoadedCode | None":
        """Return code that is loaded or stored; None without either."""
        from hpcsched.dispatching.core.loaded_code import LoadedCode  # noqa: PLC0415 (LLVM)
        from hpcsched.dispatching.core.stored_code import find  # noqa: PLC0415 (LLVM)

        if kinds in self._loaded:
            return self._loaded[kinds]
        with compiling(anew=False), _lock:
            if kinds not in self._loaded:
                kept = find(self.py_func, kinds)
                if kept is None:
                    return None
                self._loaded[kinds] = LoadedCode(kept, self.py_func)
            return self._loaded[kinds]

    def take(self, kinds: str, made: "ObjectCode") -> "LoadedCode":
        """Store and load compiled code.

        Parameters
        ----------
        kinds
            Kinds of the state's fields.
        made
            The code.

        Returns
        -------
        LoadedCode
            The loaded code.
        """
        from hpcsched.dispatching.core.loaded_code import LoadedCode  # noqa: PLC0415 (LLVM)
        from hpcsched.dispatching.core.stored_code import keep  # noqa: PLC0415 (LLVM)

        with _lock:
            keep(self.py_func, kinds, made)
            loaded = self._loaded[kinds] = LoadedCode(made, self.py_func)
            return loaded

    def _make(self, kinds: str) -> "LoadedCode":
        """Compile the function."""
        progress = CompileProgress((self.py_func,))
        names = (self.py_func.__name__,)
        with compiling(anew=True, names=names, progress=progress), _lock:
            from hpcsched.dispatching.core.state_compiler import (  # noqa: PLC0415 (numba)
                object_code,
            )

            loaded = self._load(kinds)  # by another thread, in between
            return loaded or self.take(kinds, object_code(self, kinds))


def of_state() -> Callable[[_Function], _Function]:
    """Return a decorator for functions of a state and a number that Python calls.

    Like those of `compiled`, they run as machine code or as plain Python: of a `MachineState`, or
    of a `State`. They raise nothing: machine code can only run out of memory.
    """

    def compile_function(function: _Function) -> _Function:
        return cast(_Function, StateFunction(function))

    return compile_function


def call_code(function: StateFunction, state: Any, number: int) -> None:
    """Call a function of a state and an integer that returns nothing.

    Compiled code calls the machine code of `function`, a field of the state, by its address.

    Parameters
    ----------
    function
        The callee.
    state
        State that is passed on.
    number
        Integer that is passed on.
    """
    plain(function)(state, number)
