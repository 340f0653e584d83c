"""Former names in run directories: of files, keys of the summary, columns and rules."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from hpcsched.arrow_arrays import computed, text_array
from hpcsched.results.files import FORMER_FILES
from hpcsched.workload.job_columns import present_names

_SUMMARY_KEYS: Mapping[str, str] = {"pools": "shared_resources"}
_REFUSALS: Mapping[str, str] = {"over_pool": "over_shared_resource"}


def stored_file(folder: Path, name: str) -> Path:
    """Return the path of a file of a run: by its former name if the run has that alone.

    Parameters
    ----------
    folder
        The run directory.
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
        rules = {_present(rule, _REFUSALS, rules): count for rule, count in rules.items()}
        present["jobs"] = {**jobs, "rejected_by": rules}
    return present


def present_table(table: pa.Table) -> pa.Table:
    """Return a table of a run by the present names of its columns and of the rules."""
    table = table.rename_columns(present_names(table.column_names))
    k = table.schema.get_field_index("rejected_by")
    if k < 0 or table.schema.field(k).type != pa.string():
        return table
    rules = table.column(k)
    for former, rule in _REFUSALS.items():
        # Elements of arrays, as `pyarrow.scalar` would import pandas.
        found = computed("equal", rules, text_array([former])[0])
        rules = computed("if_else", found, text_array([rule])[0], rules)
    return table.set_column(k, table.schema.field(k), rules)


def _present(name: str, former: Mapping[str, str], names: Mapping[str, Any]) -> str:
    """Return the present name of a key, unless that is there too."""
    present = former.get(name, name)
    return name if present in names else present
