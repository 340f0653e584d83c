"""Former names in run directories: of files, keys of the summary, columns and rules."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hpcsched.runs.files import FORMER_FILES

_SUMMARY_KEYS: Mapping[str, str] = {"pools": "shared_resources"}
FORMER_REFUSALS: Mapping[str, str] = {"over_pool": "over_shared_resource"}


def stored_file(folder: Path, name: str) -> Path:
    """Return the path of a file of a run: by its former name if the run has that alone.

    Parameters
    ----------
    name
        Present name of the file, whether it is there or not.
    """
    former = FORMER_FILES.get(name)
    if former is not None and not (folder / name).exists() and (folder / former).exists():
        return folder / former
    return folder / name


def present_summary(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content of a summary by the present names of its keys and of the rules."""
    present = {_present(key, _SUMMARY_KEYS, summary): value for key, value in summary.items()}
    jobs = present.get("jobs")
    rules = jobs.get("rejected_by") if isinstance(jobs, dict) else None
    if isinstance(jobs, dict) and isinstance(rules, dict):
        rules = {_present(rule, FORMER_REFUSALS, rules): count for rule, count in rules.items()}
        present["jobs"] = {**jobs, "rejected_by": rules}
    return present


def _present(name: str, former: Mapping[str, str], names: Mapping[str, Any]) -> str:
    """Return the present name of a key, unless that is there too."""
    present = former.get(name, name)
    return name if present in names else present
