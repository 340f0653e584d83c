"""The cache of machine code: where numba has it, but never trusted too far.

numba looks only at the file of the function that is called from Python, and fails on what it cannot
read. Here all the functions that this one calls and the constants that these use are looked at as
well, and what cannot be read is compiled anew.
"""

from contextlib import suppress
from typing import Any

from numba.core.caching import FunctionCache

from hpcsched.dispatching.core.code_stamp import stamp_of


class CodeCache(FunctionCache):
    """The machine code of one function with all that it calls, by types of arguments."""

    _stamped = False

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return what was kept, or None if there is nothing of use."""
        self._stamp()
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # whatever comes of reading what is damaged or outdated
            with suppress(OSError):
                self.flush()
            return None

    def kept(self, target_context: Any) -> list[Any]:
        """Return for which types of arguments there is code for this machine."""
        self._stamp()
        codegen = target_context.codegen()
        try:
            keys = list(self._cache_file._load_index())
        except Exception:  # as above
            return []
        return [key[0] for key in keys if key == self._index_key(key[0], codegen)]

    def _stamp(self) -> None:
        """Find out what code must have been made from; only now is known all that it calls."""
        if not self._stamped:
            self._cache_file._source_stamp = stamp_of(self._py_func)
            self._stamped = True

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what was compiled, where there is room for it."""
        with suppress(OSError):
            super().save_overload(sig, data)
