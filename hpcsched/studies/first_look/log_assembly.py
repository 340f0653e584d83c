"""Scenario of a log that has none, with room for every job."""

from collections.abc import Sequence
from pathlib import Path

from hpcsched.errors import Finding, InputError, Place
from hpcsched.parameters import LARGEST
from hpcsched.scenario.document import Document
from hpcsched.scenario.loading import LoadedScenario, check_document
from hpcsched.studies.first_look.log_files import LogSource
from hpcsched.workload.log_recognition import ALEA, encoding_of, format_of_log, recognised
from hpcsched.workload.presets.preset_catalogue import find_preset
from hpcsched.workload.readers.swf import types_in_records
from hpcsched.workload.readers.table import REQUEST_PREFIX
from hpcsched.workload.readers.table_rows import open_rows
from hpcsched.workload.readers.text_files import TextEncoding

_NODES = 1000
"""Number of nodes, each with 2⁵³ of everything: the largest system possible."""


def scenario_of_log(trace: Path, source: LogSource, overrides: Sequence[str]) -> LoadedScenario:
    """Return a scenario with a log as its trace and a system that has room for every job.

    Parameters
    ----------
    trace
        The log.
    source
        Trace source that reads it.
    overrides
        Overrides of the scenario.

    Raises
    ------
    InputError
        There is no such log, or an override is not valid.
    """
    if not trace.exists():
        raise InputError(Finding("path-not-found", f"there is no file {trace}", Place(str(trace))))
    known = recognised(trace)
    if source == LogSource.SWF and known == ALEA:
        # Its records would be called damaged: they have more fields. This error says how to go on.
        format_of_log(trace)
    preset = known.preset if known is not None and source == LogSource.TABLE else None
    # Jobs that do not fit would be skipped, and a conversion must lose none.
    resources = dict.fromkeys(_resource_types(trace, source, preset), LARGEST)
    values = {
        "name": "log",
        "system": {"groups": [{"name": "node", "count": _NODES, "resources": resources}]},
        "trace": {
            "source": str(source),
            "path": str(trace.absolute()),
            "zero_run_time": "keep",
            "over_requested_time": "keep",
            **({} if preset is None else {"preset": preset}),
        },
        "dispatcher": "reject",
    }
    return check_document(Document(values), trace, overrides)


def _resource_types(trace: Path, source: LogSource, preset: str | None) -> Sequence[str]:
    """Return the resource types in a log; cores if it names none."""
    if preset is not None:
        return find_preset(preset).resource_types
    found: Sequence[str] = ()
    # The run's own encoding decides on records; names of columns need a guess before there is one.
    encoding = TextEncoding(encoding_of(trace), "replace")
    if source == LogSource.SWF:
        found = types_in_records(trace, encoding)
    elif source == LogSource.TABLE:
        names = open_rows(trace, ",", encoding).names
        found = [n.removeprefix(REQUEST_PREFIX) for n in names if n.startswith(REQUEST_PREFIX)]
    return found or ["core"]
