"""The trials of a search, kept in a file as they end, so that a search goes on where it was."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from hpcsched.whole_files import problem, write_text


class Trial(NamedTuple):
    """A trial of a search.

    Attributes
    ----------
    number
        Its number, from 0.
    values
        Values by key path.
    objective
        Objective over the jobs of the training window; None if the replay failed or no job ran.
    excesses
        By how much each constraint is exceeded; at most 0 if it is kept.
    message
        Why the replay failed, if it did.
    """

    number: int
    values: Mapping[str, Any]
    objective: float | None
    excesses: tuple[float, ...] = ()
    message: str = ""

    @property
    def keeps_constraints(self) -> bool:
        """True if the replay did not fail, and no constraint is exceeded."""
        return self.objective is not None and all(excess <= 0 for excess in self.excesses)


class TrialLog:
    """File with a line for each trial, below a line that describes the search.

    Parameters
    ----------
    path
        The file, which may not exist yet.
    about
        Whatever the outcomes of trials depend on.

    Raises
    ------
    InputError
        The file is damaged, or is about another search.
    """

    def __init__(self, path: Path, about: Mapping[str, Any]) -> None:
        self._path = path
        self._about = json.loads(json.dumps(about))
        self.trials: list[Trial] = []
        if path.exists():
            self.trials = self._read()

    def add(self, trials: Sequence[Trial]) -> None:
        """Add trials, all of them or none.

        Raises
        ------
        InputError
            The file cannot be written.
        """
        self.trials += trials
        lines = [self._about, *(trial._asdict() for trial in self.trials)]
        write_text(self._path, "".join(f"{json.dumps(line)}\n" for line in lines))

    def _read(self) -> list[Trial]:
        try:
            first, *lines = map(json.loads, self._path.read_text(encoding="utf-8").splitlines())
            trials = [Trial(**{**line, "excesses": tuple(line["excesses"])}) for line in lines]
        except (OSError, ValueError, TypeError, KeyError) as error:
            message = f"it is damaged: {error}; remove it to begin anew"
            raise problem("damaged-file", self._path, message) from error
        if first != self._about:
            message = (
                "it has the trials of another search: the scenario, the tuning file, a file that"
                " they read, or a version has changed; use another --out, or remove it"
            )
            raise problem("other-search", self._path, message)
        return trials
