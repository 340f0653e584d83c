"""Traces written in another format, with an account of what was read and what was lost."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from hpcsched.cli.log_files import LogSource, format_of, source_of
from hpcsched.errors import Finding, InputError, Place
from hpcsched.parameters import LARGEST
from hpcsched.runs.assembly import Assembly, assemble
from hpcsched.scenario.document import Document
from hpcsched.scenario.loading import check_document
from hpcsched.version import __version__
from hpcsched.workload.readers.swf import types_in_records
from hpcsched.workload.readers.table_rows import open_rows
from hpcsched.workload.readers.table_source import REQUEST_PREFIX
from hpcsched.workload.trace_account import TraceAccount
from hpcsched.workload.writers.batsim_writing import write_batsim
from hpcsched.workload.writers.swf_writing import write_swf
from hpcsched.workload.writers.table_writing import write_table
from hpcsched.workload.writers.trace_writing import BOUND, Written

_WRITERS: Mapping[LogSource, tuple[str, Callable[..., Written]]] = {
    LogSource.SWF: ("SWF", partial(write_swf, keep_comments=True)),
    LogSource.BATSIM: ("Batsim's format", write_batsim),
    LogSource.TABLE: ("the table", write_table),
}
_NODES = 1000
"""As many nodes with 2⁵³ of everything as a system can have: nothing is larger."""


@dataclass(frozen=True, slots=True)
class Conversion:
    """What became of a trace: lines on what was read and written, and what to be warned of."""

    account: Sequence[str]
    warnings: Sequence[str]


def convert_trace(
    trace: Path,
    out: Path,
    parts: Assembly | None = None,
    *,
    source: LogSource | None = None,
    overrides: Sequence[str] = (),
    jobs: int | None = None,
    force: bool = False,
) -> Conversion:
    """Write a trace into `out`, in the format of its name.

    `trace` is a log, read by `source` or by what its name says, unless `parts` are those of a
    scenario with a trace. Raises InputError where the trace cannot be read or the file not written.
    """
    wanted = format_of(out)
    if parts is None:
        parts = assembly_of_log(trace, source or source_of(trace), overrides)
    called, write = _WRITERS[wanted]
    note = f"written by hpcsched {__version__} from {trace.name}"
    written = write(out, parts.source, parts.system, note=note, limit=jobs, force=force)
    return Conversion(
        tuple(_account_lines(written, parts.source.account)),
        tuple(
            f"{count} jobs {'are' if what == BOUND else 'have'} {what}, which {called} cannot say:"
            " written without"
            for what, count in written.lost.items()
        ),
    )


def assembly_of_log(trace: Path, source: LogSource, overrides: Sequence[str]) -> Assembly:
    """Return a log as the trace of a scenario whose system has room for everything.

    Raises InputError where the log is not there, or an override leads nowhere.
    """
    if not trace.exists():
        raise InputError(Finding("path-not-found", f"there is no file {trace}", Place(str(trace))))
    resources = dict.fromkeys(_resource_types(trace, source), LARGEST)
    document = Document()
    document.value = {
        "name": "log",
        "system": {"groups": [{"name": "node", "count": _NODES, "resources": resources}]},
        "trace": {
            "source": str(source),
            "path": str(trace.absolute()),
            "zero_run_time": "keep",
            "over_requested_time": "keep",
        },
        "dispatcher": "reject",
    }
    return assemble(check_document(document, trace, overrides).scenario)


def _resource_types(trace: Path, source: LogSource) -> Sequence[str]:
    """Return the resource types of which a log gives amounts, or else cores."""
    found: Sequence[str] = ()
    if source == LogSource.SWF:
        found = types_in_records(trace)
    elif source == LogSource.TABLE:
        names = open_rows(trace, ",").names
        found = [n.removeprefix(REQUEST_PREFIX) for n in names if n.startswith(REQUEST_PREFIX)]
    return found or ["core"]


def _account_lines(written: Written, account: TraceAccount) -> Iterator[str]:
    yield f"{written.path}: {written.jobs} jobs, {written.size} bytes"
    yield f"{account.read} records read"
    for what, counts in (("skipped", account.skipped), ("clipped", account.clipped)):
        for reason, count in counts.items():
            yield f"  {count} {what}: {reason}"
