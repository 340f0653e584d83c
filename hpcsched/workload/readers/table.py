"""Trace source `table`: jobs as rows of a CSV file, plain or compressed, or of a Parquet file.

The scenario maps columns to fields of a job; columns under the names of the glossary need no
mapping. `jobs.parquet` of a run is such a table, and so is the output of `hpcsched trace convert`.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any, Self
from zoneinfo import ZoneInfo

from hpcsched._core import Verdict
from hpcsched.context import Context
from hpcsched.errors import Finding, InputError, Place
from hpcsched.registration import RECORDS_WAITS, builtin
from hpcsched.system.system import Request, System
from hpcsched.workload.job_columns import BOUNDS
from hpcsched.workload.presets.preset_catalogue import columns_of, find_preset
from hpcsched.workload.readers.equal_units import EqualUnits, on_nodes, smallest
from hpcsched.workload.readers.log_source import check_types
from hpcsched.workload.readers.policies import (
    SetAsideError,
    UnusableError,
)
from hpcsched.workload.readers.quantities import (
    InSeconds,
    WallTime,
    iso_instant,
    scaled,
    wall_instant,
    whole_number,
)
from hpcsched.workload.readers.record_source import Record, RecordSource
from hpcsched.workload.readers.table_params import LABELS, TableAmount, TableColumns, TableParams
from hpcsched.workload.readers.table_rows import rows_of
from hpcsched.workload.readers.text_files import TextEncoding

REQUEST_PREFIX = "unit_request."

_NOT_GIVEN = (None, "", "-1", -1)


def given_value(value: Any) -> Any:
    """Return a value without surrounding spaces, or None if it is missing."""
    if isinstance(value, str):
        value = value.strip()
    if value in _NOT_GIVEN or (isinstance(value, float) and math.isnan(value)):
        return None
    return value


class TableAmounts:
    """Columns with amounts, and the units of a job.

    Attributes
    ----------
    by_type
        Column of each resource type that has one, with its unit.
    unit
        Amounts of each unit of types without a column.
    columns
        Columns to read, in the order in which `declared` expects their values.
    """

    def __init__(self, params: TableParams, names: Sequence[str]) -> None:
        self._params = params
        self.by_type = _columns_by_type(params, names)
        self.unit: Mapping[str, int] = params.unit or ({} if self.by_type else {"core": 1})
        asked = list(self.by_type.values())
        self._factors = [amount.times for amount in asked if amount.times is not None]
        self.columns = [*(amount.column for amount in asked), *self._factors]
        self._shared: dict[tuple[tuple[int, ...], int], EqualUnits] = {}

    def units_of(self, values: Sequence[Any], units: int) -> EqualUnits:
        """Return the units of a row's job."""
        factors = iter(values[len(self.by_type) :])
        amounts = tuple(
            self._amount(value, asked, next(factors) if asked.times is not None else 1)
            for value, asked in zip(values, self.by_type.values(), strict=False)
        )
        key = amounts, units if self._params.amounts == "job" else 0
        found = self._shared.get(key)
        if found is None:
            found = self._shared[key] = self._found(amounts, units)
        return found if found.units else found._replace(units=units)

    def _found(self, amounts: tuple[int, ...], units: int) -> EqualUnits:
        asked = dict(zip(self.by_type, amounts, strict=True))
        if not any((*asked.values(), *self.unit.values())):
            raise UnusableError("malformed", "a unit must ask for at least one resource type")
        if self._params.amounts == "unit":
            # As many units as each row states, so that rows with equal amounts share the entry.
            return EqualUnits(0, {**self.unit, **asked}, per_node=True)
        found = on_nodes(asked, units)
        if found.uneven and self._params.uneven_units == "spread":
            found = smallest(asked)._replace(uneven=True)
        elif found.uneven and self._params.uneven_units != "up":
            parts = ", ".join(f"{amount} {name}" for name, amount in asked.items() if amount)
            raise UnusableError(
                "uneven_units", f"{parts} cannot be shared equally among {units} units"
            )
        return found._replace(amounts={**self.unit, **found.amounts})

    def _amount(self, value: Any, asked: TableAmount, factor: Any) -> int:
        value, factor = given_value(value), given_value(factor)
        if value is None or factor is None:
            if self._params.missing_request == "zero":
                return 0
            raise UnusableError("missing_request", f"column {asked.column!r}: no amount is given")
        try:
            if asked.times is None and asked.unit == asked.per:
                amount = whole_number(value)
            else:
                times = Fraction(whole_number(factor))
                amount = scaled(value, times * Fraction(asked.unit, asked.per))
        except ValueError as error:
            raise UnusableError("malformed", f"column {asked.column!r}: {error}") from None
        if amount < 0:
            raise UnusableError("malformed", f"column {asked.column!r}: expected 0 or more")
        return amount


def _columns_by_type(params: TableParams, names: Sequence[str]) -> dict[str, TableAmount]:
    """Return the column of each resource type that has one."""
    requests = params.requests
    if requests is None:
        requests = {
            name.removeprefix(REQUEST_PREFIX): name
            for name in names
            if name.startswith(REQUEST_PREFIX)
            and name.removeprefix(REQUEST_PREFIX) not in (params.unit or ())
        }
    return {
        resource_type: TableAmount(column=asked) if isinstance(asked, str) else asked
        for resource_type, asked in requests.items()
        if asked is not None
    }


_SECONDS = {"ms": Fraction(1, 1000), "s": Fraction(1), "min": Fraction(60), "h": Fraction(3600)}
_TRUTH = {"true": True, "false": False, "1": True, "0": False}
_TITLES = {"queue": "Queue", "partition": "Partition", "user": "User", "group": "Group"}


@builtin(
    "trace_source",
    "table",
    TableParams,
    summary="tables of jobs, CSV or Parquet, with the columns that the scenario names",
    capabilities={RECORDS_WAITS},
)
class TableSource(RecordSource):
    """Stream of the jobs of a table.

    Reasons for skipping a row, in the order in which they apply: `undecodable`, `not_ended`,
    `outside_window`, `malformed`, `fractional_seconds`, `unsorted`, `missing_run_time`,
    `zero_run_time`, `missing_units`, `missing_request`, `uneven_units`, `missing_requested_time`,
    `larger_than_system`. Empty text, null and -1 mean a missing value.
    """

    @classmethod
    def build(cls, params: TableParams, context: Context) -> Self:
        """Make the source for the scenario's system."""
        return cls(params, context.system)

    def __init__(self, params: TableParams, system: System) -> None:
        encoding = TextEncoding(params.encoding, params.undecodable)
        self._rows = rows_of(params, encoding)
        super().__init__(params, system, self._rows, encoding)
        self._params = params
        if params.preset is not None:
            self._check_preset(params.preset)
        self._factors = {
            field: _SECONDS[getattr(params.durations, field)]
            for field in ("run_time", "requested_time")
        }
        self._not_given: Mapping[str, set[str]] = {
            field: set(map(str, found)) for field, found in params.not_given.items()
        }
        self._first, self._last = params.window
        self._unit = _SECONDS[params.time_unit]
        self._zone = None if params.time_zone is None else ZoneInfo(params.time_zone)
        self._labels: dict[str, dict[str, int]] = {label: {} for label in params.named}
        self._groups = frozenset(group.name for group in system.groups)
        self._columns = self._columns_by_field()
        self._amounts = self._columns_by_type()
        self._requests: dict[tuple[int, ...], tuple[int, ...]] = {}
        state = [] if params.not_ended is None else [params.not_ended.column]
        self._rows.select([*self._columns.values(), *self._amounts.columns, *state])
        self._fields = list(self._columns)
        bound = {column.name for column in BOUNDS} & set(self._fields)
        if not (self._amounts.by_type or bound or params.constants.one_unit_per_node):
            self.uniform_request = system.request(self._amounts.unit)

    @property
    def comments(self) -> Sequence[str]:
        """Header comments of the table, zone of its clocks, and names seen so far."""
        zone = [] if self._params.time_zone is None else [f"TimeZoneString: {self._zone}"]
        named = [
            f"{_TITLES.get(label, label.capitalize())}: {number} {name}"
            for label, names in self._labels.items()
            for name, number in names.items()
        ]
        return [*zone, *self._rows.comments, *named]

    @property
    def files(self) -> Sequence[Path]:
        """Files of the table."""
        return self._rows.files

    def parse(self, line: Any) -> Record:
        """Return the content of a row."""
        values = self._rows.values(line)
        row = dict(zip(self._fields, values, strict=False))
        ended = self._params.not_ended
        if ended is not None and str(values[-1]).strip() in ended.values:
            raise SetAsideError("not_ended", f"the job's state is {str(values[-1])[:40]!r}")
        submit_time = self._number(row, "submit_time", self._instant)
        if submit_time >= 0 and not self._first <= submit_time < self._last:
            raise SetAsideError("outside_window", "it is submitted outside of the window")
        job_id = self._number(row, "job_id", whole_number)
        run_time = self._run_time(row)
        units = self._params.constants.units or self._number(row, "units", whole_number)
        limit = self._params.constants.requested_time
        requested_time = self._duration(row, "requested_time") if limit is None else limit
        labels = [self._label(row, label) for label in LABELS]
        # Numbered by row of the file, skipped rows included, so that a number leads to its row.
        if "job_id" not in row:
            job_id = self.position
        record = Record(job_id, submit_time, run_time, requested_time, details=labels)
        try:
            if units == -1:
                raise UnusableError("missing_units", "no number of units is given")
            if units < 1:
                raise self._malformed("units", "expected at least 1")
            found = self._amounts.units_of(values[len(self._fields) :], units)
        except UnusableError as problem:
            return record.refused_for(problem, Verdict.MISSING_PROCESSORS)
        try:
            request = self._request(row, found)
            texts = [
                self._text(row, "name"),
                self._name_of(row, "queue"),
                self._name_of(row, "partition"),
            ]
            self.check_room(request, found.amounts)
        except UnusableError as problem:
            return record.refused_for(problem)
        self.changes += ["uneven_units"] * found.uneven
        wait = -1
        with suppress(UnusableError):  # the same rows give jobs, whether waits are kept or not
            if self.keeps_waits and (began := self._number(row, "start_time", self._instant)) >= 0:
                wait = began - submit_time
        return record._replace(request=request, texts=texts, wait=wait)

    def _request(self, row: Mapping[str, Any], found: EqualUnits) -> Request:
        return Request(
            units=found.units,
            unit_request=self._unit_request(found),
            node_groups=self._node_groups(row),
            allowed_nodes=self._allowed_nodes(row),
            exclusive=self._truth(row, "exclusive"),
            one_unit_per_node=self._truth(row, "one_unit_per_node")
            or (found.per_node and self._params.constants.one_unit_per_node is True),
        )

    # What the columns are.

    def _columns_by_field(self) -> dict[str, str]:
        """Return the column of each field that has one."""
        given = self._params.columns
        columns: dict[str, str] = {}
        for field in TableColumns.model_fields:
            name = getattr(given, field)
            if name is not None:
                self._check_there(name, f"trace.columns.{field}")
                columns[field] = name
            elif (
                field not in given.model_fields_set
                and field in self._rows.names
                and getattr(self._params.constants, field, None) is None
            ):
                columns[field] = field
        # Where both are there, what the scenario names is meant, or else the run time.
        if not given.run_time and (given.start_time or given.end_time):
            columns.pop("run_time", None)
        elif "run_time" in columns:
            columns.pop("end_time", None)  # the start still tells how long the job waited
        self._check_needed(columns)
        return columns

    def _check_needed(self, columns: Mapping[str, str]) -> None:
        """Raise InputError if columns needed for any job are missing."""
        lacking = [] if "submit_time" in columns else ["submit_time"]
        ends = [end for end in ("start_time", "end_time") if end not in columns]
        if "run_time" not in columns and ends:
            lacking += ["run_time"] if len(ends) == 2 else ends
        if "units" not in columns and self._params.constants.units is None:
            lacking.append("units")
        if lacking:
            raise InputError(
                Finding(
                    "missing-column",
                    f"the table has no column called {name!r}, and 'columns' names no other; there"
                    f" are: {self._listed()}",
                    Place(str(self._rows.path)),
                    key=f"trace.columns.{name}",
                )
                for name in lacking
            )

    def _columns_by_type(self) -> TableAmounts:
        """Return the columns of resource types; each is one of the system."""
        amounts = TableAmounts(self._params, self._rows.names)
        for resource_type, asked in amounts.by_type.items():
            for name in filter(None, (asked.column, asked.times)):
                self._check_there(name, f"trace.requests.{resource_type}")
        if self._params.not_ended is not None:
            self._check_there(self._params.not_ended.column, "trace.not_ended.column")
        preset = self._params.preset is not None
        hint = "; 'requests: {TYPE: null}' leaves a resource type out" if preset else ""
        check_types(self.system, amounts.by_type, self.lines.path, "trace.requests", hint)
        check_types(self.system, amounts.unit, self.lines.path, "trace.unit")
        return amounts

    def _check_preset(self, name: str) -> None:
        """Raise InputError if the table lacks columns that a preset reads."""
        wanted = dict.fromkeys(columns_of(self._params.model_dump()))
        lacking = [column for column in wanted if column not in self._rows.names]
        if lacking:
            message = (
                f"the preset {name!r} reads {find_preset(name).title}; the file has no columns"
                f" called {', '.join(lacking)}; there are: {self._listed()}"
            )
            place = Place(str(self._rows.path))
            raise InputError(Finding("missing-column", message, place, key="trace.preset"))

    def _check_there(self, name: str, key: str) -> None:
        if name not in self._rows.names:
            raise InputError(
                Finding(
                    "missing-column",
                    f"the table has no column called {name!r}; there are: {self._listed()}",
                    Place(str(self._rows.path)),
                    key=key,
                )
            )

    def _listed(self) -> str:
        names = ", ".join(name[:40] for name in self._rows.names[:20])
        return names + (", …" if len(self._rows.names) > 20 else "")

    # What stands in them.

    def _number(self, row: Mapping[str, Any], field: str, read: Callable[[Any], int]) -> int:
        """Return a number, -1 if it is missing; raises UnusableError for any other value."""
        value = given_value(row.get(field))
        # As text: before units, and alike for CSV and Parquet.
        missing = self._not_given.get(field)
        if value is None or (missing and str(value).removesuffix(".0") in missing):
            return -1
        try:
            return read(value)
        except ValueError as error:
            raise self._malformed(field, str(error)) from None

    def _instant(self, value: Any) -> int:
        factor = Fraction(1)
        if isinstance(value, WallTime):
            value = wall_instant(value, self._zone)
        elif isinstance(value, str) and self._params.times == "iso":
            value = iso_instant(value, self._zone)
        elif not isinstance(value, InSeconds):
            factor = self._unit
        try:
            return self.seconds.instant(value, factor)
        except ValueError as error:
            hint = "; 'times: iso' reads times of the calendar" if isinstance(value, str) else ""
            raise ValueError(f"{error}{hint}") from None

    def _duration(self, row: Mapping[str, Any], field: str) -> int:
        factor = Fraction(1) if isinstance(row.get(field), InSeconds) else self._factors[field]
        return self._number(row, field, lambda value: self.seconds.duration(value, factor))

    def _run_time(self, row: Mapping[str, Any]) -> int:
        if "run_time" in self._columns:
            return self._duration(row, "run_time")
        start_time = self._number(row, "start_time", self._instant)
        end_time = self._number(row, "end_time", self._instant)
        if start_time < 0 or end_time < 0:
            return -1
        if end_time < start_time:
            raise self._malformed("end_time", "the job ends before it starts")
        return end_time - start_time

    def _label(self, row: Mapping[str, Any], label: str) -> int | None:
        """Return the number of a user, group, application, queue or partition."""
        constant: int | None = getattr(self._params.constants, label)
        if constant is not None:
            return constant
        # Named labels are numbered in order of occurrence, which is deterministic for a given file.
        numbers = self._labels.get(label)
        if numbers is not None:
            name = self._text(row, label)
            return None if name is None else numbers.setdefault(name, len(numbers) + 1)
        try:
            number = self._number(row, label, whole_number)
        except UnusableError as error:
            hint = f"; 'named: [{label}]' numbers names"
            raise UnusableError(error.reason, f"{error}{hint}") from None
        return None if number < 0 else number

    def _name_of(self, row: Mapping[str, Any], label: str) -> str | None:
        """Return the name of a job's queue or partition, from the column that has it."""
        if label in self._labels:
            return self._text(row, label)
        return self._text(row, f"{label}_name")

    def _text(self, row: Mapping[str, Any], field: str) -> str | None:
        value = given_value(row.get(field))
        if value is None:
            return None
        if isinstance(value, str | int) and not isinstance(value, bool):
            return str(value)
        raise self._malformed(field, "expected a text")

    def _unit_request(self, found: EqualUnits) -> tuple[int, ...]:
        """Return the request of a unit in the system's units."""
        key = tuple(found.amounts.values())
        known = self._requests.get(key)
        if known is None:
            known = self._requests[key] = self.system.request(found.amounts)
        return known

    def _node_groups(self, row: Mapping[str, Any]) -> frozenset[str] | None:
        names = self._list(row, "node_groups")
        if names is None:
            return None
        unknown = [n for n in names if not isinstance(n, str) or n not in self._groups]
        if unknown:
            raise self._malformed(
                "node_groups", f"there is no node group called {str(unknown[0])[:40]!r}"
            )
        return frozenset(names)

    def _allowed_nodes(self, row: Mapping[str, Any]) -> frozenset[int] | None:
        given = self._list(row, "allowed_nodes")
        if given is None:
            return None
        try:
            nodes = frozenset(whole_number(number) for number in given)
        except ValueError as error:
            raise self._malformed("allowed_nodes", str(error)) from None
        if min(nodes) < 0 or max(nodes) >= self.system.node_count:
            raise self._malformed(
                "allowed_nodes", f"expected numbers of nodes up to {self.system.node_count - 1}"
            )
        return nodes

    def _list(self, row: Mapping[str, Any], field: str) -> list[Any] | None:
        value = row.get(field)
        if isinstance(value, str):
            value = value.split()
        if not value:
            return None
        if not isinstance(value, list):
            raise self._malformed(field, "expected a list")
        return value

    def _truth(self, row: Mapping[str, Any], field: str) -> bool:
        value = given_value(row.get(field))
        if value is None:
            return False
        known = _TRUTH.get(str(value).lower())
        if known is None:
            raise self._malformed(field, "expected true or false")
        return known

    def _malformed(self, field: str, message: str) -> UnusableError:
        column = self._columns.get(field, field)
        return UnusableError("malformed", f"column {column!r}: {message}")
