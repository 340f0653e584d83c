"""Catalogue of logs that comes with hpcsched.

Source: the pages of the Parallel Workloads Archive,
https://www.cs.huji.ac.il/labs/parallel/workload/.
"""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from hpcsched.errors import Finding, InputError

CATALOGUE = Path(__file__).with_name("logs.toml")


@dataclass(frozen=True, slots=True)
class Log:
    """Log that can be downloaded.

    Attributes
    ----------
    sha256
        Hash of the file; None if unknown.
    """

    name: str
    about: str
    address: str
    acknowledge: str
    cite: str
    system: str
    sha256: str | None = None

    @property
    def file_name(self) -> str:
        """Name of the file."""
        return PurePosixPath(urlsplit(self.address).path).name


def read_catalogue() -> list[Log]:
    """Return the logs of the catalogue, in its order."""
    data = tomllib.loads(CATALOGUE.read_text(encoding="utf-8"))
    return [Log(cite=data["cite"], **entry) for entry in data["logs"]]


def find_log(name: str, logs: list[Log], others: Sequence[str] = ()) -> Log:
    """Return a log by its name, or by the name of its file.

    Raises
    ------
    InputError
        If the name is unknown.
    """
    for log in logs:
        if name in (log.name, log.file_name):
            return log
    names = [*(log.name for log in logs), *others]
    close = get_close_matches(name, names, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"there are: {', '.join(names)}"
    raise InputError(Finding("unknown-log", f"the catalogue has no log {name!r}; {hint}"))
