"""Functions that are compiled to machine code by numba.

Import modules that hold such functions only where they are called: numba takes time to import.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar, cast

from numba.core import config
from numba.core.caching import NullCache
from numba.core.compiler import Compiler
from numba.core.registry import CPUDispatcher

from hpcsched.dispatching.core.code_cache import CodeCache
from hpcsched.dispatching.core.inner_code import InnerDispatcher

_Function = TypeVar("_Function", bound=Callable[..., object])

# Divisions by zero, which numba would otherwise look for, do not occur.
_OPTIONS = {"nopython": True, "nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}


class _CompiledFunction(CPUDispatcher):
    """A function that is compiled for Python and for compiled code apart, each when it first calls.

    What compiled code calls becomes part of it (see `inner_code`).
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
        self._inner = InnerDispatcher(py_func, options)
        with suppress(RuntimeError):  # there is no place for a cache
            self._cache = CodeCache(py_func)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Return what numba needs to know of a call by compiled code."""
        return self._inner.get_call_template(args, kws)

    def get_overload(self, sig: Any) -> Any:
        """Return by what compiled code calls the function."""
        return self._inner.get_overload(sig)


def compiled() -> Callable[[_Function], _Function]:
    """Return a decorator that compiles a function for the types that it is called with.

    What is compiled for Python is kept beside the module, or else in the user's cache folder, and
    found there by the next process; where neither can be written, each process compiles for itself.
    While it runs, other threads run as well.
    """

    def compile_function(function: _Function) -> _Function:
        if getattr(config, "DISABLE_JIT", False):  # NUMBA_DISABLE_JIT=1
            return function
        return cast(_Function, _CompiledFunction(function))

    return compile_function


def is_compiled(function: Any) -> bool:
    """Say whether a function has been compiled, here or by a process before.

    Such a one has left it in the cache, unless the function has changed since.
    """
    if function.signatures or isinstance(function._cache, NullCache):
        return bool(function.signatures)
    return bool(function._cache.kept(function.targetctx))
