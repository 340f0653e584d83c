"""Catalogue of presets: one TOML file per data set.

A file has the parameters of the trace source `table` that read the data set, under `trace`, and
what a user has to know: where the data are, how to get them, whom to cite, and on which terms. Each
fact is from the data set's own documentation, from its authors' code, or from a loader in public
use; the file's comments name it.
"""

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class PresetFile:
    """File of a data set that can be downloaded.

    Attributes
    ----------
    sha256
        Hash that a public source states; None if there is none.
    """

    address: str
    sha256: str | None = None

    @property
    def name(self) -> str:
        """Name of the file."""
        return PurePosixPath(urlsplit(self.address).path).name


@dataclass(frozen=True, slots=True)
class Preset:
    """Known data set, and the parameters of `table` that read it.

    Attributes
    ----------
    home
        Page of the data set: a DOI or a URL.
    licence
        Terms of use, or that none are stated.
    unit
        Meaning of a job unit.
    """

    name: str
    title: str
    about: str
    home: str
    get: str
    cite: str
    licence: str
    unit: str
    notes: str
    trace: Mapping[str, Any]
    files: tuple[PresetFile, ...] = ()

    @property
    def columns(self) -> list[str]:
        """Columns that the preset reads, without repetition."""
        return list(dict.fromkeys(columns_of(self.trace)))

    @property
    def resource_types(self) -> list[str]:
        """Resource types that its jobs ask for."""
        return [*self.trace.get("requests", {}), *self.trace.get("unit", {})]


def columns_of(trace: Mapping[str, Any]) -> Iterator[str]:
    """Yield the columns that parameters of `table` name."""
    yield from (name for name in trace.get("columns", {}).values() if name is not None)
    for asked in (trace.get("requests") or {}).values():
        if isinstance(asked, str):
            yield asked
        elif asked is not None:
            yield asked["column"]
            if asked.get("times") is not None:
                yield asked["times"]
    if trace.get("not_ended") is not None:
        yield trace["not_ended"]["column"]


@cache
def read_presets() -> Mapping[str, Preset]:
    """Return all presets by name, in alphabetical order."""
    found = (_read(path) for path in sorted(FOLDER.glob("*.toml")))
    return {preset.name: preset for preset in found}


def find_preset(name: str) -> Preset:
    """Return a preset by its name."""
    presets = read_presets()
    if name in presets:
        return presets[name]
    close = get_close_matches(name.lower(), presets, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"there are: {', '.join(presets)}"
    raise ValueError(f"there is no preset {name!r}; {hint}")


def preset_for(names: Iterable[str]) -> Preset | None:
    """Return the preset that fits a table's columns; of several the one with most columns."""
    there = set(names)
    # Without a header line in the data, names are no evidence.
    fitting = [
        preset
        for preset in read_presets().values()
        if "column_names" not in preset.trace and there.issuperset(preset.columns)
    ]
    return max(fitting, key=lambda preset: len(preset.columns), default=None)


def merged(given: Mapping[str, Any], preset: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a preset with those that a scenario gives in their place.

    A given column or constant replaces what the preset says of the same field, and a given request
    or unit what it says of the same resource type. A run time replaces the preset's end time. A
    field that neither names has no column.
    """
    found = {**preset, **given}
    asked = {key: dict(given.get(key) or {}) for key in _BESIDE}
    columns = asked["columns"]
    times = {"run_time", "end_time"} if columns.get("run_time") or columns.get("end_time") else ()
    for key, other in _BESIDE.items():
        lost = {*times, *(name for name, v in asked[other].items() if v is not None or key in _ALL)}
        kept = {name: v for name, v in (preset.get(key) or {}).items() if name not in lost}
        found[key] = {**kept, **asked[key]}
        if not found[key]:
            del found[key]
    return found


_BESIDE = {"columns": "constants", "constants": "columns", "requests": "unit", "unit": "requests"}
"""Blocks of parameters, each with that of which a value stands in for one of it."""

_ALL = ("requests", "unit")
"""Blocks of which null takes the place of the other, too."""


def _read(path: Path) -> Preset:
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    files: Sequence[Mapping[str, str]] = data.pop("files", ())
    return Preset(name=path.stem, files=tuple(PresetFile(**entry) for entry in files), **data)
