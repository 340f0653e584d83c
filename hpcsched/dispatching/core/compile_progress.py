"""Share of a compilation that is done, from the functions that it needs; numba is not needed."""

from collections.abc import Callable, Iterable

from hpcsched.dispatching.core.code_stamp import callees

_Function = Callable[..., object]

TRANSLATED = 2 / 3
"""Share of the time at which all functions are translated to intermediate code.

Measured with 0.66 to 0.74. Machine code is made of all of them at once, in the rest.
"""


class CompileProgress:
    """Progress of a compilation, function by function.

    Parameters
    ----------
    functions
        The functions in Python that are compiled. What they call is needed too.
    """

    def __init__(self, functions: Iterable[_Function]) -> None:
        self._functions = tuple(functions)
        self._begun: dict[_Function, set[_Function]] = {}

    def begins(self, function: _Function, called: Iterable[_Function]) -> None:
        """Note that a function is compiled now.

        Parameters
        ----------
        function
            The function.
        called
            The functions that it calls, for its types of arguments.
        """
        self._begun.setdefault(function, set()).update(called)

    @property
    def share(self) -> float:
        """Share of the time that has passed, from 0 to 1, as far as it is known."""
        needed = set(self._functions)
        found = list(needed)
        while found:
            function = found.pop()
            # Until it is compiled, a function counts with all callees of its source, some of which
            # are left out for most types of arguments.
            known = self._begun.get(function)
            new = (callees(function) if known is None else known) - needed
            needed |= new
            found += new
        return TRANSLATED * len(needed & self._begun.keys()) / max(len(needed), 1)
