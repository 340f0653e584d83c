"""Formats of logs by their content."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from hpcsched.errors import Finding, InputError, Place
from hpcsched.workload.presets.preset_catalogue import Preset, find_preset, preset_for
from hpcsched.workload.readers.table_rows import (
    LIMIT,
    PARQUET_MAGIC,
    USED,
    open_rows,
    table_files,
)
from hpcsched.workload.readers.text_files import TextLines, decoded, open_text, reading

SCENARIOS = (".yaml", ".yml")
"""Endings of the names of scenarios, which are taken for scenarios whatever is in them."""

_LOOKED_AT = 1 << 16
_PBS = re.compile(r"\d\d/\d\d/\d{4} \d\d:\d\d:\d\d;[A-Za-z];")
_SACCT_ROW = re.compile(r"[0-9][0-9_+.]*\|")
_SACCT_NUMBERS, _SACCT_TIMES = {"jobid", "jobidraw"}, {"submit", "start", "end"}
_SIGNS = re.compile(r"[^a-z0-9]+")
_NUMBER = re.compile(r"[-+]?\d+(\.\d*)?([eE][-+]?\d+)?")
_SWF_FIELDS, _ALEA_FIELDS = 18, 21
_JOB_NAMES = ["JobNames:", "last"]
_SWF_HEADER = re.compile(r";\s*(Version|Computer|Max(Jobs|Records|Nodes|Procs)|UnixStartTime):")
_JUDGED = 100
"""Number of records that decide on the format: one odd record decides nothing."""
_TAR, _TAR_AT = b"ustar", 257


class LogFormat(NamedTuple):
    """Format of a log.

    Attributes
    ----------
    preset
        Name of the preset that reads it; None: the source needs none.
    """

    source: str
    called: str
    preset: str | None = None


SWF = LogFormat("swf", "Standard Workload Format")
BATSIM = LogFormat("batsim", "a workload of Batsim")
SACCT = LogFormat("slurm-sacct", "output of Slurm's sacct")
PBS = LogFormat("pbs-accounting", "an accounting log of PBS")
TABLE = LogFormat("table", "a table")
ALEA = LogFormat("alea", "the extended Standard Workload Format of Alea")


def of_preset(preset: Preset) -> LogFormat:
    """Return the format of a data set that a preset reads."""
    return LogFormat("table", preset.title, preset.name)


def recognised(path: Path) -> LogFormat | None:
    """Return the format of a log, plain or compressed; None if the file is no log that is known.

    A folder is recognised by its first table, or else by its first file.
    """
    path = _first_file(path)
    beginning = _beginning(path)
    if beginning.startswith(PARQUET_MAGIC):
        return _known_table(path)
    lines = _lines_of(beginning)
    if not lines or beginning[_TAR_AT:].startswith(_TAR):
        return None
    found = next((one for one, fits in _FITS.items() if fits(lines)), None)
    if isinstance(found, str):
        return of_preset(find_preset(found))
    return _known_table(path) if found is TABLE else found


def _first_file(path: Path) -> Path:
    """Return the first table of a folder, or else its first file; a file is returned as it is."""
    if not path.is_dir():
        return path
    with suppress(InputError):
        return table_files(path)[0]
    return TextLines(path).files[0]


def _lines_of(beginning: bytes) -> list[str]:
    """Return the whole lines of the beginning of a text that are not blank."""
    lines = [line for line in decoded(beginning).splitlines() if line.strip()]
    # What is looked at may end within a line.
    return lines[:-1] if len(beginning) >= _LOOKED_AT and len(lines) > 1 else lines


def _known_table(path: Path) -> LogFormat:
    """Return the format of the data set with the table's columns, or the general one."""
    try:
        preset = preset_for(open_rows(path, ",").names)
    except InputError:
        return TABLE
    return TABLE if preset is None else of_preset(preset)


def format_of_log(path: Path, preset: str | None = None) -> LogFormat:
    """Return the format of a log from which a scenario can be made without further information.

    Parameters
    ----------
    preset
        Name of the preset that reads it; None: the content tells the format.
    """
    if preset is not None:
        try:
            return of_preset(find_preset(preset))
        except ValueError as error:
            raise InputError(Finding("unknown-preset", str(error), key="--preset")) from None
    found = recognised(path)
    message = ""
    if found is None:
        message = _unknown(path)
    elif found == TABLE:
        message = _table_without_columns(path)
    elif found == ALEA:
        message = (
            "it is in the extended format of Alea, whose jobs name properties of nodes: a scenario"
            " with the trace source 'alea' describes these"
        )
    elif path.is_dir() and found in (SWF, BATSIM):
        message = f"expected a file of the format {found.called}, found a folder"
    if found is None or message:
        raise InputError(Finding("unknown-format", message, Place(str(path))))
    return found


def _unknown(path: Path) -> str:
    """Return the reason why a file is no known log."""
    beginning = _beginning(_first_file(path))
    if not beginning.strip():
        cause = "the file is empty"
    elif beginning[_TAR_AT:].startswith(_TAR):
        cause = "it is a tar archive, unpack it first"
    else:
        cause = sacct_remedy(next(iter(_lines_of(beginning)), "")) or "it is none of these"
    known = ", ".join(one.called for one in (SWF, BATSIM, SACCT, PBS))
    return f"expected a log of a known format: {known}; {cause}"


def _table_without_columns(path: Path) -> str:
    """Return the way to describe a table of unknown columns."""
    file = _first_file(path)
    beginning = _beginning(file)
    is_text = not beginning.startswith(PARQUET_MAGIC)
    separator = _separator(_lines_of(beginning)) if is_text else ","
    told = ""
    with suppress(InputError):
        told = f" with the columns {', '.join(open_rows(file, separator).names)}"
    delimiter = "" if separator == "," else f", delimiter: {json.dumps(separator)}"
    return (
        f"it is a table{told}, of no known data set ('hpcsched trace presets'); the trace of a"
        f" scenario says what they are: {{source: table, path: {path.name}{delimiter}, columns:"
        " {job_id: ..., submit_time: ..., run_time: ..., requested_time: ..., units: ...}}"
    )


def refuse_log(path: Path) -> None:
    """Check that a file that should be a scenario is no log."""
    if path.suffix in SCENARIOS or not path.is_file():
        return
    found = recognised(path)
    if found is not None:
        message = (
            f"this is a trace ({found.called}), and a scenario is expected;"
            f" 'hpcsched try {path}' replays it"
        )
        raise InputError(Finding("trace-not-scenario", message, Place(str(path))))


def _beginning(path: Path) -> bytes:
    with reading(path), open_text(path) as (_, stream):
        beginning: bytes = stream.read(_LOOKED_AT)
    return beginning


def _is_sacct(lines: Sequence[str]) -> bool:
    for line in lines[:_JUDGED]:
        if _SACCT_ROW.match(line.strip()):
            return False
        names = set(_SIGNS.split(line.lower()))
        # Remarks may precede the header; a table of another origin may have a job's number.
        if _SACCT_NUMBERS & names and ("|" in line or names >= _SACCT_TIMES):
            return True
    return False


def sacct_remedy(text: str) -> str:
    """Return the kind of a file of Slurm that is no log, by a line of it, and the remedy."""
    line = text.strip()
    if line.startswith(("{", "[")):
        return "it is JSON, which the trace source slurm-history of the plugin hpcsched-slurm reads"
    if line.startswith("JobId="):
        return (
            "it is a file of jobcomp/filetxt, which the trace source slurm-history of the plugin"
            " hpcsched-slurm reads"
        )
    names = {name.lower() for name in line.split()}
    if len(names) > 1 and {*_SACCT_NUMBERS, "jobname"} & names:
        return "it is the table that sacct prints for people: add --parsable2"
    if _SACCT_ROW.match(line):
        return "the first line is a job: call sacct without --noheader"
    return ""


def _most(lines: Iterable[str], fits: Callable[[str], object]) -> bool:
    """Return whether at least half of the first records fit, comments left out."""
    records = (line for line in lines if not line.lstrip().startswith(";"))
    found = [bool(fits(line)) for line in islice(records, _JUDGED)]
    return bool(found) and 2 * sum(found) >= len(found)


def _is_batsim(lines: Sequence[str]) -> bool:
    text = "\n".join(lines)
    if not text.lstrip().startswith("{"):
        return False
    try:
        content = json.loads(text)
    except ValueError:
        # Longer than what is looked at. Slurm's answers have jobs, too, with an association each.
        return ('"jobs"' in text or '"profiles"' in text) and '"association"' not in text
    return isinstance(content, dict) and {"jobs", "profiles"} <= set(content)


def _is_swf(lines: Sequence[str]) -> bool:
    comments = [line for line in lines if line.lstrip().startswith(";")]
    # Comments of an archive's log may be longer than what is looked at.
    if len(comments) == len(lines):
        return True
    named = any(line[1:].split() == _JOB_NAMES for line in comments)

    def fits(line: str) -> bool:
        fields = line.split()[:-1] if named else line.split()
        # More where the header announces amounts by resource type.
        return len(fields) >= _SWF_FIELDS and all(map(_NUMBER.fullmatch, fields))

    return _most(lines, fits) or (any(map(_SWF_HEADER.match, comments)) and not _is_alea(lines))


def _is_philly(lines: Sequence[str]) -> bool:
    text = "\n".join(lines)
    return text.lstrip().startswith("[") and '"attempts"' in text and '"submitted_time"' in text


def _is_alea(lines: Sequence[str]) -> bool:
    def fits(line: str) -> bool:
        fields = line.split()
        return (
            len(fields) == _ALEA_FIELDS
            and all(map(_NUMBER.fullmatch, fields[:_SWF_FIELDS]))
            and fields[_SWF_FIELDS][0] + fields[_SWF_FIELDS][-1] == "{}"
        )

    return _most(lines, fits)


def _separator(lines: Sequence[str]) -> str:
    """Return the separator that the first line has most of; commas of a file without lines."""
    return max((",", ";", "\t"), key=lines[0].count) if lines else ","


_FITS: Mapping[LogFormat | str, Callable[[Sequence[str]], bool]] = {
    SACCT: _is_sacct,
    PBS: lambda lines: _most(lines, _PBS.match),
    BATSIM: _is_batsim,
    SWF: _is_swf,
    "philly": _is_philly,
    "eurora": lambda lines: {USED, LIMIT} <= set(lines[0].split(";")),
    ALEA: _is_alea,
    TABLE: lambda lines: lines[0].count(_separator(lines)) >= 2 and ":" not in lines[0],
}
"""Formats of text, or presets by name, with tests of the first lines; the first that fits is it."""
