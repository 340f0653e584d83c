"""Check that a scenario's trace source reads the format of its log."""

from pathlib import Path

from hpcsched.errors import Finding, InputError
from hpcsched.scenario.loading import LoadedScenario
from hpcsched.workload.log_recognition import BATSIM, PBS, SACCT, SWF, recognised

_READ = {
    SWF.source: {"swf", "alea"},
    BATSIM.source: {"batsim"},
    SACCT.source: {"slurm-sacct"},
    PBS.source: {"pbs-accounting"},
}
"""Sources that read a format, by the source that is named after it."""

_SOURCES = frozenset().union(*_READ.values())


def other_format(loaded: LoadedScenario) -> list[Finding]:
    """Return an error if the log is of a format that its trace source does not read.

    Only the beginning of the log is read. Sources that read any columns, such as `table`, and logs
    of no known format are left alone.
    """
    trace = loaded.scenario.trace
    path = getattr(trace, "path", None)
    if trace.plugin_name not in _SOURCES or not isinstance(path, str):
        return []
    try:
        if not Path(path).is_file() or not Path(path).stat().st_size:
            return []
        found = recognised(Path(path))
    # The source says what is wrong with a file that cannot be read.
    except (InputError, OSError):
        return []
    if found is None or found.preset or trace.plugin_name in _READ.get(found.source, _SOURCES):
        return []
    message = (
        f"expected a log that {trace.plugin_name} reads, found {found.called} ({path});"
        f" 'source: {found.source}' reads it"
    )
    return [Finding("other-format", message, loaded.place("trace.source"), "trace.source")]
