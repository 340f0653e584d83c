"""The choice of a run by its path or name: one rule for every command that reads runs."""

from pathlib import Path

from hpcsched.runs.files import MANIFEST
from hpcsched.whole_files import file_error

INDEX = "experiment.json"
"""The file of an experiment's folder that lists its cells and their runs."""

RUNS = Path("runs")
"""The folder into which `hpcsched run` and `hpcsched experiment` write unless `--out` is given."""


def run_folder(given: Path) -> Path:
    """Return a run's folder by its path or its name.

    A path that exists; the name of a run or an experiment in `runs/`; or a folder of runs with the
    name of one of them: `runs/matrix/easy`.
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
    from hpcsched.report.studied_runs import open_study, pick_run  # noqa: PLC0415 (arrays take time)

    return pick_run(given.name, open_study([parent]).runs, parent).run.path


def one_run_folder(given: Path) -> Path:
    """Return the folder of a single run; also of the only run that a folder holds."""
    folder = run_folder(given)
    if (folder / MANIFEST).is_file() or not folder.is_dir() or not any(folder.rglob(MANIFEST)):
        return folder
    from hpcsched.report.studied_runs import open_study  # noqa: PLC0415 (arrays take time)

    runs = open_study([folder]).runs
    if len(runs) > 1:
        names = ", ".join(one.name for one in runs)
        message = f"it holds {len(runs)} runs: expected {folder}/NAME of one of them: {names}"
        raise file_error("several-runs", folder, message)
    return runs[0].run.path
