"""Conversion of traces to other formats, with an account of jobs read and properties lost."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from hpcsched.runs.assembly import assemble
from hpcsched.runs.refused_records import all_refused_told
from hpcsched.scenario.loading import LoadedScenario
from hpcsched.studies.first_look.log_assembly import scenario_of_log
from hpcsched.studies.first_look.log_files import LogSource, format_of, source_of
from hpcsched.version import __version__
from hpcsched.workload.trace_source import TraceAccount
from hpcsched.workload.trace_writing import BOUND, Written, write_batsim, write_swf, write_table

_WRITERS: Mapping[LogSource, tuple[str, Callable[..., Written]]] = {
    LogSource.SWF: ("SWF", partial(write_swf, keep_comments=True)),
    LogSource.BATSIM: ("Batsim's format", write_batsim),
    LogSource.TABLE: ("the table", write_table),
}


@dataclass(frozen=True, slots=True)
class Conversion:
    """Outcome of a conversion, in lines of text."""

    account: Sequence[str]
    warnings: Sequence[str]


def convert_trace(
    trace: Path,
    out: Path,
    scenario: LoadedScenario | None = None,
    *,
    source: LogSource | None = None,
    overrides: Sequence[str] = (),
    jobs: int | None = None,
    force: bool = False,
) -> Conversion:
    """Write a trace in another format.

    Parameters
    ----------
    scenario
        The scenario with the trace; None for a log.
    source
        Trace source that reads the log; None: by its name.
    jobs
        Largest number of jobs to write; None is all.

    Raises
    ------
    InputError
        The trace cannot be read, or the file not written.
    """
    wanted = format_of(out)
    first = [] if jobs is None else [f"trace.jobs={jobs}"]
    loaded = scenario or scenario_of_log(trace, source or source_of(trace), [*overrides, *first])
    parts = assemble(loaded.scenario)
    called, write = _WRITERS[wanted]
    note = f"written by hpcsched {__version__} from {trace.name}"
    # A single record as well: no scenario is there whose keys would show the choices.
    with all_refused_told(loaded, least=1):
        written = write(out, parts.source, parts.system, note=note, limit=jobs, force=force)
    return Conversion(
        tuple(_account_lines(written, parts.source.account)),
        tuple(
            f"{count} jobs {'are' if what == BOUND else 'have'} {what}, which {called} cannot say:"
            " written without"
            for what, count in written.lost.items()
        ),
    )


def _account_lines(written: Written, account: TraceAccount) -> Iterator[str]:
    yield f"wrote {written.path}: {written.jobs} jobs, {written.size} bytes"
    yield f"{account.read} records read"
    for what, counts in (("skipped", account.skipped), ("clipped", account.clipped)):
        for reason, count in counts.items():
            yield f"  {count} {what}: {reason}"
    yield from (f"  malformed: {fault}" for fault in account.faults.values())
