"""The choice of a run by its path or name: one rule for every command that reads runs."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hpcsched.errors import Finding, InputError
from hpcsched.report.run_labels import short_labels
from hpcsched.runs.files import MANIFEST
from hpcsched.whole_files import problem

if TYPE_CHECKING:
    from hpcsched.report.studied_runs import StudiedRun

INDEX = "experiment.json"
"""The file of an experiment's folder that lists its cells and their runs."""

RUNS = Path("runs")
"""The folder into which `hpcsched run` and `hpcsched experiment` write unless `--out` is given."""


def run_folder(given: Path) -> Path:
    """Return a run's folder by its path or its name.

    Parameters
    ----------
    given
        A path that exists; the name of a run or an experiment in `runs/`; or a folder of
        runs, such as an experiment's, with the name of one of them: `runs/matrix/easy`.

    Returns
    -------
    Path
        The folder. A path that exists is returned unchanged, also where it holds no run.

    Raises
    ------
    InputError
        The folder of runs holds no run of that name, or several. Where it holds no runs at all,
        `given` is returned, for whoever opens it to refuse.
    """
    # A path always wins, so that a new run in runs/ never changes the meaning of a command.
    if given.exists():
        return given
    in_runs = RUNS / given
    if (in_runs / MANIFEST).is_file() or (in_runs / INDEX).is_file():
        return in_runs
    parent = given.parent if given.parent != Path() else RUNS
    # Only folders that hold runs themselves: a mistyped path must not search a whole disk.
    if not (parent / INDEX).is_file() and not any(parent.glob(f"*/{MANIFEST}")):
        return given
    from hpcsched.report.studied_runs import open_study  # noqa: PLC0415 (it calls this module)

    return pick_run(given.name, open_study([parent]).runs, parent).run.path


def one_run_folder(given: Path) -> Path:
    """Return the folder of a single run; also of the only run that a folder holds.

    Raises
    ------
    InputError
        No run is meant, or several.
    """
    folder = run_folder(given)
    if (folder / MANIFEST).is_file() or not folder.is_dir() or not any(folder.rglob(MANIFEST)):
        return folder
    from hpcsched.report.studied_runs import open_study  # noqa: PLC0415 (it calls this module)

    runs = open_study([folder]).runs
    if len(runs) > 1:
        names = ", ".join(one.name for one in runs)
        message = f"it holds {len(runs)} runs: expected {folder}/NAME of one of them: {names}"
        raise problem("several-runs", folder, message)
    return runs[0].run.path


def pick_run(wanted: str, runs: "Sequence[StudiedRun]", folder: Path | None = None) -> "StudiedRun":
    """Return the run that is meant by a name or a directory.

    Parameters
    ----------
    wanted
        A run's name; what was varied, such as a dispatcher; the name of its scenario; its
        directory; or its label.
    folder
        The folder that holds the runs, for the error; None for a baseline.

    Raises
    ------
    InputError
        It means none of the runs, or several.
    """
    labels = short_labels(one.name for one in runs)
    found = (
        [one for one in runs if one.name == wanted]
        or [
            one
            for one in runs
            if wanted in (one.configuration, one.run.manifest.scenario)
            or Path(wanted) == one.run.path
        ]
        or [one for one in runs if labels[one.name] == wanted]
    )
    if len(found) == 1:
        return found[0]
    what = "is the name of several runs; give a directory" if found else "is none of these runs"
    there = ", ".join(one.name for one in runs)
    message = f"{wanted!r} {what}; there are: {there}"
    if folder is not None:
        raise problem("unknown-run", folder, message)
    raise InputError(Finding("unknown-baseline", message))
