"""Variables of the environment in paths: `${HPCSCHED_TRACES}/a.swf`."""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


_OWN = "HPCSCHED_"
"""Begin of the names of variables that every scenario may use."""
_allowed: frozenset[str] = frozenset()
"""Further variables; not by thread, since those of experiments read scenarios too."""


@contextmanager
def variables_allowed(names: Iterable[str]) -> Iterator[None]:
    """Let scenarios use these variables of the environment beside those of hpcsched."""
    global _allowed  # noqa: PLW0603 (put back at the end)
    before = _allowed
    _allowed = before | frozenset(names)
    try:
        yield
    finally:
        _allowed = before


def expand_variables(text: str, environment: Mapping[str, str]) -> str:
    """Replace every `${VAR}` in a path by a non-empty value of the environment.

    A scenario of somebody else must not show or write down just any variable, so its name begins
    with `HPCSCHED_`, or `variables_allowed` has it.

    Parameters
    ----------
    environment
        Values by variable name; a variable that is unset or empty stays as `${VAR}`.

    Raises
    ------
    ValueError
        If the text has a variable that it may not use.

    Examples
    --------
    >>> expand_variables("${HPCSCHED_TRACES}/a.swf", {"HPCSCHED_TRACES": "/home/ada"})
    '/home/ada/a.swf'
    """
    for name in unset_variables(text):
        if not name.startswith(_OWN) and name not in _allowed:
            raise ValueError(
                f"expected a variable whose name begins with {_OWN}, or that --env {name} allows"
                f" (in Python env=[{name!r}]), found ${{{name}}}"
            )
    return _VARIABLE.sub(lambda match: environment.get(match[1]) or match[0], text)


def unset_variables(path: str) -> list[str]:
    """Return the names of the variables that are still in a path."""
    return _VARIABLE.findall(path)
