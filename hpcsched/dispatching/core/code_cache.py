"""Cache of machine code on top of numba's, with a complete check of sources.

numba checks only the file of the function that Python calls, and fails on unreadable files. This
cache also checks all functions that this one calls and the constants that these use, and compiles
again where a file cannot be read.
"""

from contextlib import suppress
from typing import Any

from numba.core.caching import FunctionCache

from hpcsched.dispatching.core.code_stamp import stamp_of


class CodeCache(FunctionCache):
    """Machine code of one function with its callees, by types of arguments."""

    _stamped = False

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return cached code, or None if there is none that is valid."""
        self._stamp()
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # whatever comes of reading what is damaged or outdated
            with suppress(OSError):
                self.flush()
            return None

    def kept(self, target_context: Any) -> list[Any]:
        """Return the types of arguments for which there is code for this machine."""
        self._stamp()
        # The index names other processors as well, where several machines share a folder.
        codegen = target_context.codegen()
        try:
            keys = list(self._cache_file._load_index())
        except Exception:  # as above
            return []
        return [key[0] for key in keys if key == self._index_key(key[0], codegen)]

    def _stamp(self) -> None:
        """Compute the stamp of the sources; only now are all callees known."""
        if not self._stamped:
            self._cache_file._source_stamp = stamp_of(self._py_func)
            self._stamped = True

    def save_overload(self, sig: Any, data: Any) -> None:
        """Store compiled code, if the cache is writable."""
        with suppress(OSError):
            super().save_overload(sig, data)
