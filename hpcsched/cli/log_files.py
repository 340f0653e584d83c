"""Which files are logs, by the endings of their names, and what reads and writes them."""

from enum import StrEnum
from pathlib import Path

from hpcsched.errors import Finding, InputError, Place


class LogSource(StrEnum):
    """The trace sources that read a log without being told about a system."""

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
    """Say whether a file is a scenario, by its name."""
    return path.suffix in (".yaml", ".yml")


def source_of(path: Path) -> LogSource:
    """Return what reads a log; raises InputError where its name does not tell."""
    plain = path.with_suffix("") if path.suffix == ".gz" else path
    source = _READ.get(plain.suffix)
    if source is None:
        endings = ", ".join(_READ)
        raise InputError(
            Finding(
                "unknown-format",
                f"expected a name that ends in {endings} (or one of these and .gz), or in .yaml for"
                " a scenario; --from says what reads other names",
                Place(str(path)),
            )
        )
    return source


def format_of(path: Path) -> LogSource:
    """Return what reads back a file that is to be written; raises InputError for other names."""
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
