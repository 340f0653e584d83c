"""Log files: their formats by the endings of their names, and the one that comes along."""

from enum import StrEnum
from pathlib import Path

import hpcsched
from hpcsched.errors import Finding, InputError, Place
from hpcsched.workload.readers.text_files import ENDINGS


class LogSource(StrEnum):
    """Trace sources that read a log without a declared system."""

    SWF = "swf"
    BATSIM = "batsim"
    TABLE = "table"


_READ = {
    ".swf": LogSource.SWF,
    ".json": LogSource.BATSIM,
    ".csv": LogSource.TABLE,
    ".parquet": LogSource.TABLE,
}
_WRITTEN = (".swf", ".swf.gz", ".json", ".json.gz", ".parquet")


def is_scenario(path: Path) -> bool:
    """Return whether a file is a scenario, by its name."""
    return path.suffix in (".yaml", ".yml")


def source_of(path: Path) -> LogSource:
    """Return the trace source that reads a log."""
    plain = path.with_suffix("") if path.suffix in ENDINGS else path
    source = _READ.get(plain.suffix)
    if source is None:
        endings, compressed = ", ".join(_READ), ", ".join(ENDINGS)
        raise InputError(
            Finding(
                "unknown-format",
                f"expected a name that ends in {endings} (or one of these and {compressed}), or in"
                " .yaml for a scenario; --from says what reads other names",
                Place(str(path)),
            )
        )
    return source


def format_of(path: Path) -> LogSource:
    """Return the trace source that reads back a file to be written."""
    for ending in _WRITTEN:
        if path.name.endswith(ending):
            return _READ[ending.removesuffix(".gz")]
    raise InputError(
        Finding(
            "unknown-format",
            f"expected a name that ends in {', '.join(_WRITTEN[:-1])} or {_WRITTEN[-1]}",
            Place(str(path)),
        )
    )


_EXAMPLE = "small-cluster.swf.gz"
_PACKAGE = Path(hpcsched.__file__).parent
_FOLDERS = (_PACKAGE / "traces", _PACKAGE.parent / "scenarios" / "traces")
"""Folders of the log: in an installed package, in a checkout."""


def example_log() -> Path:
    """Return the path of the log that comes with hpcsched."""
    for folder in _FOLDERS:
        if (folder / _EXAMPLE).is_file():
            return folder / _EXAMPLE
    raise InputError(Finding("missing-file", f"the example {_EXAMPLE} was not installed"))
