"""numba's machine code of compiled functions, for callers in Python and in compiled code."""

import inspect
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from numba.core.caching import NullCache
from numba.core.compiler import Compiler
from numba.core.registry import CPUDispatcher
from numba.np import linalg

from hpcsched.dispatching.core import code_call_types  # noqa: F401  (numba is told of calls)
from hpcsched.dispatching.core.code_cache import CodeCache
from hpcsched.dispatching.core.compile_progress import CompileProgress
from hpcsched.dispatching.core.compile_record import is_private, not_kept
from hpcsched.dispatching.core.compile_time import compiling
from hpcsched.dispatching.core.inner_code import InnerDispatcher
from hpcsched.dispatching.core.state_types import register

register()

# numba would import scipy's linear algebra here, to see whether it is there, which takes half as
# long as numba itself. No function of ours needs it; one that does has it imported when compiled.
_ensure_blas, linalg.ensure_blas = linalg.ensure_blas, lambda: None
try:
    import_module("numba.np.arraymath")
finally:
    linalg.ensure_blas = _ensure_blas

# Divisions by zero, which numba would otherwise look for, do not occur.
_OPTIONS = {"nopython": True, "nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}


class MachineFunction(CPUDispatcher):
    """Function compiled separately for Python callers and for compiled callers, on first use.

    For compiled callers it becomes part of their code (see `inner_code`).
    """

    def __init__(
        self,
        py_func: Any,
        locals: Any = None,  # noqa: A002  (numba's name)
        targetoptions: Any = None,
        pipeline_class: Any = Compiler,
    ) -> None:
        options = _OPTIONS if targetoptions is None else targetoptions
        super().__init__(py_func, locals or {}, options, pipeline_class)
        self.inner = InnerDispatcher(py_func, options)
        with suppress(RuntimeError):  # there is no place for a cache
            cache = CodeCache(py_func)
            if is_private(Path(cache.cache_path), inspect.getfile(py_func)):
                self._cache = cache

    def compile(self, sig: Any) -> Any:
        """Compile or load it for some types, where Python has called it with these."""
        anew = not self.is_there(tuple(sig))
        progress = CompileProgress((self.py_func,))
        with compiling(anew=anew, names=(self.py_func.__name__,), progress=progress):
            made = super().compile(sig)
        if anew and isinstance(self._cache, NullCache):
            not_kept()
        return made

    def is_there(self, types: tuple[Any, ...]) -> bool:
        """Check whether the function has been compiled for Python callers, here or earlier.

        Parameters
        ----------
        types
            Types of the first arguments.

        Returns
        -------
        bool
            Whether code for these types exists.
        """
        there = list(self.signatures)
        if not isinstance(self._cache, NullCache):
            there += self._cache.kept(self.targetctx)
        return any(arguments[: len(types)] == types for arguments in there)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Return numba's typing of a call from compiled code."""
        return self.inner.get_call_template(args, kws)

    def get_overload(self, sig: Any) -> Any:
        """Return the entry point for compiled callers."""
        return self.inner.get_overload(sig)


def machine_function(function: Any) -> MachineFunction:
    """Return the compiler of a function."""
    return MachineFunction(function)
