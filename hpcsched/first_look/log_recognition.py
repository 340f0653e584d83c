"""Formats of logs by their content."""

import codecs
import gzip
import json
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from hpcsched.errors import Finding, InputError, Place
from hpcsched.slurm.sacct_header import parse_header, what_it_is
from hpcsched.workload.presets.preset_catalogue import Preset, find_preset, preset_for
from hpcsched.workload.readers.table_files import table_files
from hpcsched.workload.readers.table_rows import open_rows

SCENARIOS = (".yaml", ".yml")
"""Endings of the names of scenarios, which are taken for scenarios whatever is in them."""

_LOOKED_AT = 1 << 16
_GZIP = b"\x1f\x8b"
_PARQUET = b"PAR1"
_UTF_16 = codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE
UTF_8 = "utf-8"
_PBS = re.compile(r"\d\d/\d\d/\d{4} \d\d:\d\d:\d\d;[A-Za-z];")
_NUMBER = re.compile(r"[-+]?\d+(\.\d*)?([eE][-+]?\d+)?")
_SWF_FIELDS = 18
_JOB_NAMES = ["JobNames:", "last"]


class LogFormat(NamedTuple):
    """Format of a log.

    Attributes
    ----------
    source
        Name of the trace source that reads it.
    called
        The format in words.
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


def of_preset(preset: Preset) -> LogFormat:
    """Return the format of a data set that a preset reads."""
    return LogFormat("table", preset.title, preset.name)


def recognised(path: Path) -> LogFormat | None:
    """Return the format of a log, plain or gzip; None if the file is no log that is known.

    A folder is recognised by its first table.

    Raises
    ------
    InputError
        The file cannot be read.
    """
    if path.is_dir():
        path = table_files(path)[0]
    beginning = _beginning(path)
    if beginning.startswith(_PARQUET):
        return _known_table(path)
    text = beginning.decode(_encoding(beginning), errors="replace").removeprefix("\ufeff")
    lines = [line for line in text.splitlines() if line.strip()]
    found = next((one for one, fits in _FITS.items() if lines and fits(lines)), None)
    return _known_table(path) if found is TABLE else found


def _known_table(path: Path) -> LogFormat:
    """Return the format of the data set whose columns a table has, or that of any table."""
    try:
        preset = preset_for(open_rows(path, ",").names)
    except InputError:
        return TABLE
    return TABLE if preset is None else of_preset(preset)


def encoding_of(path: Path) -> str:
    """Return the encoding of a log, by its first bytes.

    Bytes that are not UTF-8 are taken for Latin-1, which reads any.

    Raises
    ------
    InputError
        The file cannot be read.
    """
    return _encoding(_beginning(table_files(path)[0] if path.is_dir() else path))


def format_of_log(path: Path, preset: str | None = None) -> LogFormat:
    """Return the format of a log from which a scenario can be made without further information.

    Parameters
    ----------
    path
        The log.
    preset
        Name of the preset that reads it; None: the content tells the format.

    Raises
    ------
    InputError
        The file cannot be read, is no log that is known, or a table, whose columns must be named;
        or there is no such preset.
    """
    if preset is not None:
        try:
            return of_preset(find_preset(preset))
        except ValueError as error:
            raise InputError(Finding("unknown-preset", str(error), key="--preset")) from None
    found = recognised(path)
    place = Place(str(path))
    if found is None:
        known = ", ".join(one.called for one in (SWF, BATSIM, SACCT, PBS))
        message = f"expected a log of a known format: {known}; it is none of these"
        cause = what_it_is(_first_line(path))
        if cause:
            message = f"{message}: {cause}"
        raise InputError(Finding("unknown-format", message, place))
    if found is TABLE:
        message = (
            "it is a table of no known data set ('hpcsched trace presets'), whose columns a"
            " scenario must name: see the trace source 'table' in docs/exchange.md"
        )
        raise InputError(Finding("unknown-format", message, place))
    return found


def refuse_log(path: Path) -> None:
    """Check that a file that should be a scenario is no log.

    Raises
    ------
    InputError
        It is a log; the message says what to type.
    """
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
    try:
        with path.open("rb") as file:
            beginning = file.read(_LOOKED_AT)
        if not beginning.startswith(_GZIP):
            return beginning
        with gzip.open(path) as unpacked:
            return unpacked.read(_LOOKED_AT)
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        message = f"it cannot be read: {reason}"
        raise InputError(Finding("missing-file", message, Place(str(path)))) from None


def _first_line(path: Path) -> str:
    beginning = _beginning(table_files(path)[0] if path.is_dir() else path)
    text = beginning.decode(_encoding(beginning), errors="replace").removeprefix("\ufeff")
    return next((line for line in text.splitlines() if line.strip()), "")


def _encoding(beginning: bytes) -> str:
    if beginning.startswith(_PARQUET):
        return UTF_8
    if beginning.startswith(_UTF_16):
        return "utf-16"
    try:
        # Not final: what is looked at may end within a letter.
        codecs.getincrementaldecoder(UTF_8)().decode(beginning)
    except UnicodeDecodeError:
        return "latin-1"
    return UTF_8


def _is_sacct(lines: Sequence[str]) -> bool:
    names = set(parse_header(lines[0].strip()).names)
    # A table of another origin may have a column of this name.
    return "jobid" in names and ("|" in lines[0] or {"submit", "start", "end"} <= names)


def _is_pbs(lines: Sequence[str]) -> bool:
    return _PBS.match(lines[0]) is not None


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
    # Comments of an archive's log may be longer than what is looked at.
    record = next((line for line in lines if not line.lstrip().startswith(";")), None)
    if record is None:
        return True
    fields = record.split()
    if any(line.split()[1:] == _JOB_NAMES for line in lines if line.startswith(";")):
        fields = fields[:-1]
    # More where the header announces amounts by resource type.
    return len(fields) >= _SWF_FIELDS and all(map(_NUMBER.fullmatch, fields))


def _is_philly(lines: Sequence[str]) -> bool:
    text = "\n".join(lines)
    return text.lstrip().startswith("[") and '"attempts"' in text and '"submitted_time"' in text


def _is_table(lines: Sequence[str]) -> bool:
    return lines[0].count(",") >= 2 and ":" not in lines[0]


_FITS: Mapping[LogFormat, Callable[[Sequence[str]], bool]] = {
    SACCT: _is_sacct,
    PBS: _is_pbs,
    BATSIM: _is_batsim,
    SWF: _is_swf,
    of_preset(find_preset("philly")): _is_philly,
    TABLE: _is_table,
}
"""Formats of text, each with the test of a file's first lines; the first that fits is meant."""
