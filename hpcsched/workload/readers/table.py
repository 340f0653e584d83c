"""Trace source `table`: jobs as rows of a CSV file, plain or compressed, or of a Parquet file.

The scenario maps columns to fields of a job; columns under the names of the glossary need no
mapping. `jobs.parquet` of a run is such a table, and so is the output of `hpcsched trace convert`.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from hpcsched.errors import Finding, InputError, Place
from hpcsched.registration import RECORDS_WAITS, builtin
from hpcsched.system.system import Request, System
from hpcsched.workload.job_columns import BOUNDS, NUMBERED
from hpcsched.workload.presets.preset_catalogue import columns_of, find_preset
from hpcsched.workload.readers.equal_units import EqualUnits, divided
from hpcsched.workload.readers.log_source import NamesSeen, check_types
from hpcsched.workload.readers.policies import SetAsideError, UnusableError
from hpcsched.workload.readers.quantities import (
    in_seconds,
    iso_instant,
    scaled,
    unix_time,
    whole_number,
)
from hpcsched.workload.readers.record_source import Record, RecordSource
from hpcsched.workload.readers.table_params import LABELS, TableAmount, TableColumns, TableParams
from hpcsched.workload.readers.table_rows import rows_of

REQUEST_PREFIX = "unit_request."

_NOT_GIVEN = (None, "", "-1", -1)

_Row = Mapping[str, Any]
"""Values of a row by column."""


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
    """

    def __init__(self, params: TableParams, names: Sequence[str]) -> None:
        self._params = params
        requests = params.requests
        if requests is None:
            types = {
                n.removeprefix(REQUEST_PREFIX): n for n in names if n.startswith(REQUEST_PREFIX)
            }
            requests = {name: n for name, n in types.items() if name not in (params.unit or ())}
        self.by_type = {
            resource_type: TableAmount(column=asked) if isinstance(asked, str) else asked
            for resource_type, asked in requests.items()
            if asked is not None
        }
        self.unit: Mapping[str, int] = params.unit or ({} if self.by_type else {"core": 1})

    def units_of(self, row: _Row, units: int) -> EqualUnits:
        """Return the units of a row's job."""
        asked = {name: self._amount(row, amount) for name, amount in self.by_type.items()}
        if not any((*asked.values(), *self.unit.values())):
            raise ValueError("a unit must ask for at least one resource type")
        found = EqualUnits(units, asked, per_node=True)
        if self._params.amounts == "job":
            found = divided(asked, units, self._params.uneven_units, "units")
        return found._replace(amounts={**self.unit, **found.amounts})

    def _amount(self, row: _Row, asked: TableAmount) -> int:
        value = given_value(row[asked.column])
        factor = 1 if asked.times is None else given_value(row[asked.times])
        if value is None or factor is None:
            if self._params.missing_request == "zero":
                return 0
            raise UnusableError("missing_request", f"column {asked.column!r}: no amount is given")
        try:
            if asked.times is None and asked.unit == asked.per:
                amount = whole_number(value)
            else:
                amount = scaled(value, whole_number(factor) * Fraction(asked.unit, asked.per))
        except ValueError as error:
            raise ValueError(f"column {asked.column!r}: {error}") from None
        if amount < 0:
            raise ValueError(f"column {asked.column!r}: expected 0 or more")
        return amount


_SECONDS = {"ms": Fraction(1, 1000), "s": Fraction(1), "min": Fraction(60), "h": Fraction(3600)}
_TRUTH = {"true": True, "false": False, "1": True, "0": False}


@builtin(
    "trace_source",
    "table",
    TableParams,
    summary="tables of jobs, CSV or Parquet, with the columns that the scenario names",
    capabilities={RECORDS_WAITS},
)
class TableSource(RecordSource):
    """Stream of the jobs of a table.

    Reasons for skipping a row, in the order in which they apply: `not_ended`, `malformed`,
    `fractional_seconds`, `unsorted`, `missing_run_time`, `zero_run_time`, `missing_requested_time`,
    `missing_units`, `missing_request`, `uneven_units`, `larger_than_system`. Empty text, null and
    -1 mean a missing value.
    """

    def __init__(self, params: TableParams, system: System) -> None:
        self._rows = rows_of(params)
        super().__init__(params, system, self._rows)
        self._params = params
        self._not_given: Mapping[str, set[str]] = {
            field: set(map(str, found)) for field, found in params.not_given.items()
        }
        self._zone = None if params.time_zone is None else ZoneInfo(params.time_zone)
        self._groups = frozenset(group.name for group in system.groups)
        if params.preset is not None:
            reads = f"the preset {params.preset!r} reads {find_preset(params.preset).title}; "
            self._check_there(columns_of(params.model_dump()), "trace.preset", reads)
        self._columns = self._columns_by_field()
        self._amounts = self._columns_by_type()
        self._rows.wanted = [
            *self._columns.values(),
            *(one.column for one in self._amounts.by_type.values()),
            *(one.times for one in self._amounts.by_type.values() if one.times is not None),
            *([] if params.not_ended is None else [params.not_ended.column]),
        ]
        bound = {column.name for column in BOUNDS} & self._columns.keys()
        if not (self._amounts.by_type or bound or params.constants.one_unit_per_node):
            self.uniform_request = system.request(self._amounts.unit)

    @property
    def comments(self) -> Sequence[str]:
        """Header comments of the table, zone of its clocks, and names seen so far."""
        zone = [] if self._zone is None else [f"TimeZoneString: {self._zone}"]
        return [*zone, *super().comments]

    @property
    def files(self) -> Sequence[Path]:
        """Files of the table."""
        return self._rows.files

    def begin(self) -> None:
        """Prepare for reading the table from its first row."""
        super().begin()
        self.names = {
            NUMBERED.index(label): NamesSeen(label.capitalize()) for label in self._params.named
        }

    def parse(self, line: Any) -> Record:
        """Return the content of a row."""
        values = self._rows.values(line)
        ended = self._params.not_ended
        if ended is not None and str(values[ended.column]).strip() in ended.values:
            state = str(values[ended.column])[:40]
            raise SetAsideError("not_ended", f"the job's state is {state!r}")
        row = {field: values[column] for field, column in self._columns.items()}
        submit_time = self._number(row, "submit_time", self._instant)
        # Numbered by row of the file, skipped rows included, so that a number leads to its row.
        job_id = self._number(row, "job_id", whole_number) if "job_id" in row else self.position
        limit = self._params.constants.requested_time
        wait = -1
        rounded = self.seconds.rounded
        with suppress(UnusableError, ValueError):  # without a start, there is no wait
            if (began := self._number(row, "start_time", self._instant)) >= 0:
                wait = began - submit_time
        self.seconds.rounded = rounded
        return Record(
            job_id,
            submit_time,
            self._run_time(row),
            self._duration(row, "requested_time") if limit is None else limit,
            lambda: self._request(row, values),
            [self._label(row, label) for label in LABELS],
            [
                self._text(row, "name"),
                self._text(row, "queue" if "queue" in self._params.named else "queue_name"),
                self._text(
                    row, "partition" if "partition" in self._params.named else "partition_name"
                ),
            ],
            wait,
        )

    def _request(self, row: _Row, values: _Row) -> Request:
        units = self._params.constants.units or self._number(row, "units", whole_number)
        if units == -1:
            raise UnusableError("missing_units", "no number of units is given")
        if units < 1:
            raise self._malformed("units", "expected at least 1")
        found = self._amounts.units_of(values, units)
        apart = found.per_node and self._params.constants.one_unit_per_node is True
        request = Request(
            units=found.units,
            unit_request=self.system.request(found.amounts),
            node_groups=self._node_groups(row),
            allowed_nodes=self._allowed_nodes(row),
            exclusive=self._truth(row, "exclusive"),
            one_unit_per_node=self._truth(row, "one_unit_per_node") or apart,
        )
        self.check_room(request, found.amounts)
        self.changes += ["uneven_units"] * found.uneven
        return request

    # What the columns are.

    def _columns_by_field(self) -> dict[str, str]:
        """Return the column of each field that has one."""
        given, constants = self._params.columns, self._params.constants
        columns: dict[str, str] = {}
        for field in TableColumns.model_fields:
            name = getattr(given, field)
            if name is not None:
                self._check_there([name], f"trace.columns.{field}")
                columns[field] = name
            elif field not in given.model_fields_set and getattr(constants, field, None) is None:
                columns |= {field: field} if field in self._rows.names else {}
        # Where both are there, what the scenario names is meant, or else the run time.
        if not given.run_time and (given.start_time or given.end_time):
            columns.pop("run_time", None)
        elif "run_time" in columns:
            columns.pop("end_time", None)  # the start still tells how long the job waited
        needed = {"submit_time"} if constants.units else {"submit_time", "units"}
        ends = {"start_time", "end_time"}
        if "run_time" not in columns:
            needed |= ends if ends & columns.keys() else {"run_time"}
        findings = [
            Finding(
                "missing-column",
                f"the table has no column called {name!r}, and 'columns' names no other; there"
                f" are: {self._listed()}",
                Place(str(self._rows.path)),
                key=f"trace.columns.{name}",
            )
            for name in TableColumns.model_fields
            if name in needed - columns.keys()
        ]
        if findings:
            raise InputError(findings)
        return columns

    def _columns_by_type(self) -> TableAmounts:
        """Return the columns of resource types; each is one of the system."""
        amounts = TableAmounts(self._params, self._rows.names)
        for resource_type, asked in amounts.by_type.items():
            named = [name for name in (asked.column, asked.times) if name is not None]
            self._check_there(named, f"trace.requests.{resource_type}")
        if self._params.not_ended is not None:
            self._check_there([self._params.not_ended.column], "trace.not_ended.column")
        preset = self._params.preset is not None
        hint = "; 'requests: {TYPE: null}' leaves a resource type out" if preset else ""
        check_types(self.system, amounts.by_type, self.lines.path, "trace.requests", hint)
        check_types(self.system, amounts.unit, self.lines.path, "trace.unit")
        return amounts

    def _check_there(self, names: Iterable[str], key: str, why: str = "") -> None:
        lacking = [name for name in dict.fromkeys(names) if name not in self._rows.names]
        if lacking:
            called = ", ".join(map(repr, lacking))
            message = f"{why}the table has no column called {called}; there are: {self._listed()}"
            raise InputError(
                Finding("missing-column", message, Place(str(self._rows.path)), key=key)
            )

    def _listed(self) -> str:
        names = ", ".join(name[:40] for name in self._rows.names[:20])
        return names + (", …" if len(self._rows.names) > 20 else "")

    # What stands in them.

    def _number(self, row: _Row, field: str, read: Callable[[Any], int]) -> int:
        """Return a number, -1 if it is missing; raises ValueError for any other value."""
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
        if isinstance(value, datetime):
            return self.seconds.instant(unix_time(value, self._zone))
        if isinstance(value, str) and self._params.times == "iso":
            return self.seconds.instant(iso_instant(value, self._zone))
        try:
            return self.seconds.instant(value, _SECONDS[self._params.time_unit])
        except ValueError as error:
            hint = "; 'times: iso' reads times of the calendar" if isinstance(value, str) else ""
            raise ValueError(f"{error}{hint}") from None

    def _duration(self, row: _Row, field: str) -> int:
        factor = _SECONDS[getattr(self._params.durations, field)]

        def read(value: Any) -> int:
            if isinstance(value, timedelta):
                return self.seconds.duration(in_seconds(value))
            return self.seconds.duration(value, factor)

        return self._number(row, field, read)

    def _run_time(self, row: _Row) -> int:
        if "run_time" in self._columns:
            return self._duration(row, "run_time")
        start_time = self._number(row, "start_time", self._instant)
        end_time = self._number(row, "end_time", self._instant)
        if start_time < 0 or end_time < 0:
            return -1
        if end_time < start_time:
            raise self._malformed("end_time", "the job ends before it starts")
        return end_time - start_time

    def _label(self, row: _Row, label: str) -> int | str | None:
        """Return the number or name of a user, group, application, queue or partition."""
        if label in self._params.named:
            return self._text(row, label)
        try:
            number = self._number(row, label, whole_number)
        except ValueError as error:
            raise ValueError(f"{error}; 'named: [{label}]' numbers names") from None
        return None if number < 0 else number

    def _text(self, row: _Row, field: str) -> str | None:
        value = given_value(row.get(field))
        if value is None:
            return None
        if isinstance(value, str | int) and not isinstance(value, bool):
            return str(value)
        raise self._malformed(field, "expected a text")

    def _node_groups(self, row: _Row) -> frozenset[str] | None:
        names = self._list(row, "node_groups")
        unknown = [name for name in names or () if name not in self._groups]
        if unknown:
            message = f"there is no node group called {str(unknown[0])[:40]!r}"
            raise self._malformed("node_groups", message)
        return frozenset(names) if names else None

    def _allowed_nodes(self, row: _Row) -> frozenset[int] | None:
        try:
            nodes = frozenset(map(whole_number, self._list(row, "allowed_nodes")))
        except ValueError as error:
            raise self._malformed("allowed_nodes", str(error)) from None
        if nodes and not 0 <= min(nodes) <= max(nodes) < self.system.node_count:
            message = f"expected numbers of nodes up to {self.system.node_count - 1}"
            raise self._malformed("allowed_nodes", message)
        return nodes or None

    def _list(self, row: _Row, field: str) -> list[Any]:
        value = row.get(field) or []
        if isinstance(value, str):
            value = value.split()
        if not isinstance(value, list):
            raise self._malformed(field, "expected a list")
        return value

    def _truth(self, row: _Row, field: str) -> bool:
        value = given_value(row.get(field))
        known = _TRUTH.get(str(value).lower(), False if value is None else None)
        if known is None:
            raise self._malformed(field, "expected true or false")
        return known

    def _malformed(self, field: str, message: str) -> ValueError:
        return ValueError(f"column {self._columns.get(field, field)!r}: {message}")
