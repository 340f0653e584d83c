"""Resident memory of a process, as the operating system reports it."""

import os
from pathlib import Path


def resident_memory(process: int | None = None) -> int | None:
    """Return the resident memory of a process.

    Parameters
    ----------
    process
        Number of the process; None: this one.

    Returns
    -------
    int or None
        Memory, in bytes; None if the process is gone, or the operating system has no `/proc`, as
        outside Linux.

    Examples
    --------
    >>> import os
    >>> resident_memory() is None or resident_memory(os.getpid()) > 1_000_000
    True
    """
    # Sizes in pages; the second one is the resident part.
    file = Path("/proc", "self" if process is None else str(process), "statm")
    try:
        pages = int(file.read_text(encoding="ascii").split()[1])
    except OSError:
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")
