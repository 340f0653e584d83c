"""Machine code of functions of a state, loaded into memory and called from Python."""

import ctypes
from collections.abc import Callable
from typing import Any

from llvmlite import binding

from hpcsched.dispatching.core.machine_state import MachineState
from hpcsched.dispatching.core.stored_code import ObjectCode

_C_TYPES: dict[Any, Any] = {int: ctypes.c_int64, float: ctypes.c_double, None: ctypes.c_void_p}

# What numba's functions return if all was well: 0, or -2 where None is the result.
_WELL = (0, -2)


class LoadedCode:
    """Machine code in memory of a function of a state and a number, at an `address`.

    By numba's convention it takes addresses for its result and for errors, then its arguments.

    Parameters
    ----------
    made
        Code to load.
    function
        The function in Python, for its annotations.
    """

    def __init__(self, made: ObjectCode, function: Callable[..., object]) -> None:
        self._offsets = made.offsets
        # The engine owns the code.
        self._engine = _engine_with(made.code)
        kinds = function.__annotations__
        (number,) = [kinds[name] for name in list(kinds)[1:] if name != "return"]
        self._result = _C_TYPES[kinds["return"]]
        pointer = ctypes.c_void_p
        signature = ctypes.CFUNCTYPE(ctypes.c_int32, *[pointer] * 3, _C_TYPES[number])
        self.address = self._engine.get_function_address(made.symbol)
        self._function = signature(self.address)
        # The code brings its own memory functions; arrays must be released by the same ones.
        release = ctypes.CFUNCTYPE(None, pointer)
        self._release = release(self._engine.get_function_address("NRT_decref"))

    def __call__(self, state: MachineState, number: float) -> Any:
        """Call the function without the interpreter's lock.

        Parameters
        ----------
        number
            Second argument.

        Returns
        -------
        Any
            The function's result.

        Raises
        ------
        MemoryError
            Compiled code could not allocate memory.
        """
        result, error = self._result(), ctypes.c_void_p()
        where = state.address(self._offsets, self._let_go)
        status = self._function(ctypes.byref(result), ctypes.byref(error), where, number)
        if status not in _WELL:
            raise MemoryError("there is no memory left for what compiled code needs")
        return result.value

    def _let_go(self, made: int) -> None:
        """Release an array that the function has made."""
        self._release(made)


def _engine_with(code: bytes) -> Any:
    """Return an LLVM engine with the code loaded."""
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    machine = binding.Target.from_default_triple().create_target_machine()
    engine = binding.create_mcjit_compiler(binding.parse_assembly(""), machine)
    engine.add_object_file(binding.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return engine
