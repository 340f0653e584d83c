"""Digests of a run directory: for each file and column, a hash of its values."""

import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

CLOCKS = {"decision_time", "solver.build_time", "solver.transform_time", "solver.solve_time"}
"""Columns that hold real time."""

Digests = dict[str, dict[str, str | int]]
"""Digests by file, and within it by column, beside the number of `rows`."""


def digests(folder: Path) -> Digests:
    """Return the digests of all tables, the summary and the events of a run."""
    found: Digests = {}
    for path in sorted(folder.glob("*.parquet")):
        table = pq.read_table(path)
        columns = {name: _digest(values) for name, values in _columns(table) if name not in CLOCKS}
        found[path.name] = {"rows": len(table), **columns}
    summary = json.loads((folder / "summary.json").read_text())
    found["summary.json"] = {key: _digest([value]) for key, value in summary.items()}
    events = folder / "events.jsonl"
    if events.exists():
        lines = events.read_text().splitlines()
        found[events.name] = {"rows": len(lines), "lines": _digest(lines)}
    return found


def differences(stored: Digests, found: Digests) -> Iterator[str]:
    """Yield each file, and each column of a file, whose digest differs."""
    for name in sorted(stored.keys() | found.keys()):
        if name not in stored or name not in found:
            yield f"{name}: {'new' if name in found else 'missing'}"
            continue
        before, now = stored[name], found[name]
        for column in sorted(before.keys() | now.keys()):
            if before.get(column) != now.get(column):
                yield f"{name}, {column}: {before.get(column)} before, {now.get(column)} now"


def _columns(table: pa.Table) -> Iterator[tuple[str, list[Any]]]:
    """Yield columns by name; fields of a struct are columns of their own."""
    for name in table.column_names:
        values = table[name].to_pylist()
        kind = table[name].type
        if not pa.types.is_struct(kind):
            yield name, values
            continue
        for field in kind:
            yield (
                f"{name}.{field.name}",
                [None if value is None else value[field.name] for value in values],
            )


def _digest(values: list[Any]) -> str:
    """Return the first digits of the hash of values, in which floats are exact."""
    text = "\n".join(json.dumps(_exact(value), sort_keys=True) for value in values)
    return sha256(text.encode()).hexdigest()[:8]


def _exact(value: Any) -> Any:
    """Return a value with floats in hexadecimal."""
    if isinstance(value, float):
        return value.hex()
    if isinstance(value, dict):
        return {key: _exact(of_key) for key, of_key in value.items()}
    return [_exact(one) for one in value] if isinstance(value, list) else value
