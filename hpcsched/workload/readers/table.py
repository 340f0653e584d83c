"""Trace source `table`: jobs as rows of a CSV file, plain or compressed, or of a Parquet file.

The scenario maps columns to fields of a job; columns under the names of the glossary need no
mapping. `jobs.parquet` of a run is such a table, and so is the output of `hpcsched trace convert`.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal, Self, cast
from zoneinfo import ZoneInfo

from pydantic import (
    Field,
    SerializerFunctionWrapHandler,
    ValidationInfo,
    field_validator,
    model_serializer,
    model_validator,
)

from hpcsched.errors import Finding, InputError, Place
from hpcsched.parameters import (
    InputPath,
    Listed,
    Params,
    PositiveAmount,
    PositiveDuration,
    UnitAmounts,
)
from hpcsched.registration import RECORDS_WAITS, builtin
from hpcsched.system.mig import MIG_SHARES
from hpcsched.system.system import Request, System
from hpcsched.workload.job import BOUNDS, NUMBERED
from hpcsched.workload.presets.preset_catalogue import columns_of, find_preset, merged, read_presets
from hpcsched.workload.readers.log_source import NamesSeen, Record, RecordSource, check_types
from hpcsched.workload.readers.policies import (
    FRACTIONS,
    FractionalSeconds,
    SetAsideError,
    UnusableError,
    WithdrawnPolicy,
)
from hpcsched.workload.readers.quantities import (
    EqualUnits,
    divided,
    exact_number,
    in_seconds,
    iso_instant,
    scaled,
    unix_time,
    whole_number,
)
from hpcsched.workload.readers.table_rows import rows_of
from hpcsched.workload.trace_calendar import TimeZoneName

_Column = Annotated[str, Field(min_length=1)]

Label = Literal["user", "group", "application", "queue", "partition"]

NumberField = Literal[
    "job_id", "submit_time", "start_time", "end_time", "run_time", "requested_time", "units",
    "user", "group", "application", "queue", "partition",
]  # fmt: skip
DurationUnit = Literal["ms", "s", "min", "h"]


class TableColumns(Params):
    """Columns of a table by field of a job.

    A field that is not named is read from the column of its own name, if there is one; null
    prevents that.
    """

    job_id: _Column | None = None
    """Number of the job; by default the row's."""
    submit_time: _Column | None = None
    """Submit time."""
    start_time: _Column | None = None
    """Start time, also of recorded waits."""
    end_time: _Column | None = None
    """End time."""
    run_time: _Column | None = None
    """Run time, in seconds."""
    requested_time: _Column | None = None
    """The user's limit, in seconds."""
    units: _Column | None = None
    """Number of units."""
    user: _Column | None = None
    """The number or name of the user."""
    group: _Column | None = None
    """The number or name of the group of users."""
    application: _Column | None = None
    """The number or name of the application."""
    queue: _Column | None = None
    """The number or name of the queue."""
    partition: _Column | None = None
    """The number or name of the partition."""
    queue_name: _Column | None = None
    """Name of the queue."""
    partition_name: _Column | None = None
    """Name of the partition."""
    name: _Column | None = None
    """The job's name."""
    node_groups: _Column | None = None
    """Allowed node groups, or models of devices: list or words."""
    allowed_nodes: _Column | None = None
    """Numbers of allowed nodes, likewise."""
    exclusive: _Column | None = None
    """Exclusive use: true or false, 1 or 0."""
    one_unit_per_node: _Column | None = None
    """One unit per node, likewise."""

    @model_serializer(mode="wrap")
    def _given(self, dump: SerializerFunctionWrapHandler) -> dict[str, str | None]:
        """Return the given fields only: null in a resolved scenario would prevent the default."""
        return {name: value for name, value in dump(self).items() if name in self.model_fields_set}


class TableConstants(Params):
    """Values of all jobs, in place of columns."""

    units: int | None = Field(None, ge=1)
    """Number of units of each job."""
    requested_time: PositiveDuration | None = None
    """The limit of each job."""
    run_time: PositiveDuration | None = None
    """The run time of each job."""
    one_unit_per_node: bool | None = None
    """Whether each unit needs a node of its own, unless uneven amounts were spread."""


class TableAmount(Params):
    """Column with amounts in another unit: value × unit / per, rounded up to wholes or shares."""

    column: _Column
    """The column."""
    times: _Column | None = None
    """Another column, by whose value the amount is multiplied."""
    unit: PositiveAmount = 1
    """Amount that the value 1 means: 1MiB for MiB."""
    per: int = Field(1, ge=1)
    """The value that means one unit: 100 for percent."""


class TableDurations(Params):
    """Units of the columns with durations."""

    run_time: DurationUnit = "s"
    """Unit of run times."""
    requested_time: DurationUnit = "s"
    """Unit of requested times."""


class NotEnded(Params):
    """Column with states of jobs, and those of jobs that have not ended."""

    column: _Column
    """The column."""
    values: Annotated[tuple[str, ...], Listed] = Field(min_length=1)
    """States of jobs whose rows are set aside, counted as not_ended."""


class TableParams(WithdrawnPolicy):
    """Parameters of `table`: the table, its columns, and policies for rows."""

    path: InputPath
    """The table, or a folder of tables, plain or compressed; ${VAR} is filled in."""
    preset: str | None = None
    """A known data set (`hpcsched trace presets`), whose columns and units need no naming; other
    keys replace what the preset says."""
    format: Literal["table", "philly", "eurora"] = "table"
    """CSV or Parquet, as the content tells; or the job log of Microsoft's Philly, or of Eurora."""
    column_names: Annotated[tuple[_Column, ...] | None, Listed] = None
    """Names of the columns of a CSV file without a line that names them."""
    columns: TableColumns = Field(default_factory=TableColumns)
    """Columns by field of a job."""
    requests: dict[str, _Column | TableAmount | None] | None = None
    """Column with the amount, by resource type, or its name, unit and factor; null leaves out a
    type of the preset. By default the columns unit_request.TYPE."""
    amounts: Literal["unit", "job"] = "unit"
    """Basis of these amounts: each unit, or the whole job."""
    uneven_units: Literal["spread", "up", "skip", "error"] = "spread"
    """Policy for amounts of a whole job that cannot be divided equally among its units: smallest
    equal parts as units, rounding up for every unit (both counted as clippings), or an error."""
    unit: UnitAmounts | None = None
    """Request of each unit, for resource types without a column; one core if no resource type has
    one."""
    constants: TableConstants = Field(default_factory=TableConstants)
    """Constant values, which replace columns."""
    times: Literal["seconds", "iso"] = "seconds"
    """Format of submit, start and end times: seconds, or ISO 8601 (2024-05-01T12:30:00+02:00). Time
    stamps of a Parquet file are understood anyway."""
    time_unit: Literal["s", "ms"] = "s"
    """Unit of submit, start and end times that are numbers."""
    durations: TableDurations = Field(default_factory=TableDurations)
    """Units of run times and requested times."""
    not_given: dict[NumberField, list[int]] = Field(default_factory=dict)
    """Numbers that mean a missing value, by field, beside -1."""
    not_ended: NotEnded | None = None
    """States of jobs that have not ended, which are no jobs yet."""
    time_zone: TimeZoneName | None = None
    """The zone (Europe/Paris) of times that are written without an offset from UTC."""
    named: Annotated[tuple[Label, ...], Listed] = ()
    """Fields that hold names: any of user, group, application, queue, partition; names are numbered
    from 1 as they appear."""
    delimiter: str = Field(",", pattern=r'^[^"\s]$|^\t$')
    """Separator of the values of a CSV file."""
    fractional_seconds: FractionalSeconds = Field("outward", description=FRACTIONS)
    missing_units: Literal["error", "skip"] = "error"
    """Policy for a job without a number of units."""
    missing_request: Literal["error", "zero", "skip"] = "error"
    """Policy for an amount that is not given; `zero` reads it as 0."""

    @model_validator(mode="before")
    @classmethod
    def _fill_in_preset(cls, data: Any, info: ValidationInfo) -> Any:
        """Fill in the parameters of the preset, so that a resolved scenario has them."""
        name = data.get("preset") if isinstance(data, dict) else None
        if not isinstance(name, str) or name not in read_presets():
            return data
        blocks: dict[str, type[Params]] = {"columns": TableColumns, "constants": TableConstants}
        given = dict(data)
        for key in blocks:
            block = given.get(key)
            if isinstance(block, Params):
                given[key] = block.model_dump(exclude_unset=True)
            elif block is not None and not isinstance(block, dict):
                return data  # which the validation of the field refuses
        known = (info.context or {}).get("known_keys")
        if known is not None:
            # Of the mappings that the scenario has, as those made here stand nowhere in it.
            known[id(data)] = tuple(cls.model_fields)
            known |= {
                id(data[key]): tuple(model.model_fields)
                for key, model in blocks.items()
                if key in data
            }
        found = merged(given, find_preset(name).trace)
        # A column that neither names is not meant, whatever it is called.
        unnamed = {key: None for key in TableColumns.model_fields if key not in found["columns"]}
        return {**found, "columns": {**unnamed, **found["columns"]}}

    @field_validator("preset")
    @classmethod
    def _preset_is_known(cls, preset: str | None) -> str | None:
        if preset is not None:
            find_preset(preset)
        return preset

    @model_validator(mode="after")
    def _one_value_each(self) -> Self:
        for key in TableConstants.model_fields:
            if getattr(self.constants, key) is not None and getattr(self.columns, key) is not None:
                raise ValueError(f"{key} has both a column and a constant; expected one of them")
        if self.columns.run_time and self.columns.end_time:
            raise ValueError("columns has both run_time and end_time; expected one of them")
        for name in [name for name, asked in (self.requests or {}).items() if asked is not None]:
            if name in (self.unit or ()):
                raise ValueError(
                    f"{name} has both a column, under 'requests', and an amount, under 'unit';"
                    " expected one of them"
                )
        return self


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


_SECONDS = {"ms": Fraction(1, 1000), "s": Fraction(1), "min": Fraction(60), "h": Fraction(3600)}
_TRUTH = {"true": True, "false": False, "1": True, "0": False}


@builtin("trace_source", "table", TableParams, capabilities={RECORDS_WAITS})
class TableSource(RecordSource):
    """Trace source: tables of jobs, CSV or Parquet, with the columns that the scenario names.

    Reasons for skipping a row, in the order in which they apply: `not_ended`, `malformed`,
    `fractional_seconds`, `unsorted`, `missing_run_time`, `zero_run_time`, `missing_requested_time`,
    `missing_units`, `missing_request`, `uneven_units`, `larger_than_system`. Empty text, null and
    -1 mean a missing value.
    """

    def __init__(self, params: TableParams, system: System) -> None:
        self._rows = rows_of(params)
        super().__init__(params, system, self._rows)
        self._params = params
        self._zone = None if params.time_zone is None else ZoneInfo(params.time_zone)
        self._groups: dict[str, list[str]] = {}
        for group in system.groups:
            for name in {group.name, group.model or group.name}:
                self._groups.setdefault(name, []).append(group.name)
        profiles = system.devices.profiles if system.devices else ()
        self._mig_profiles = {one.name: Fraction(one.amount, MIG_SHARES) for one in profiles}
        if params.preset is not None:
            reads = f"the preset {params.preset!r} reads {find_preset(params.preset).title}; "
            self._check_there(columns_of(params.model_dump()), "trace.preset", reads)
        self._columns = self._columns_by_field()
        self._amounts = self._columns_by_type()
        self._unit = params.unit or ({} if self._amounts else {"core": 1})
        check_types(system, self._unit, self.lines.path, "trace.unit")
        self._readers: Mapping[str, Callable[[Any], int]] = {
            **dict.fromkeys(("submit_time", "start_time", "end_time"), self._instant),
            "run_time": self._duration(params.durations.run_time),
            "requested_time": self._duration(params.durations.requested_time),
        }
        amounts = self._amounts.values()
        self._rows.wanted = [
            *self._columns.values(),
            *(name for one in amounts for name in (one.column, one.times) if name is not None),
            *([] if params.not_ended is None else [params.not_ended.column]),
        ]
        bound = {column.name for column in BOUNDS} & self._columns.keys()
        if not (self._amounts or bound or params.constants.one_unit_per_node):
            self.uniform_request = system.request(self._unit)

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
        ended, named = self._params.not_ended, self._params.named
        if ended is not None and str(values[ended.column]).strip() in ended.values:
            state = str(values[ended.column])[:40]
            raise SetAsideError("not_ended", f"the job's state is {state!r}")
        row = {field: values[column] for field, column in self._columns.items()}
        submit_time = self._number(row, "submit_time")
        limit, wait = self._params.constants.requested_time, -1
        rounded = self.seconds.rounded
        with suppress(UnusableError, ValueError):  # without a start, there is no wait
            if (began := self._number(row, "start_time")) >= 0:
                wait = began - submit_time
        self.seconds.rounded = rounded
        requested_time = self._number(row, "requested_time") if limit is None else limit
        patience = self._patience(row, submit_time)
        return Record(
            # Numbered by row of the file, skipped rows included, so that a number leads to its row.
            self._number(row, "job_id") if "job_id" in row else self.position,
            submit_time,
            self._run_time(row) if patience < 0 else requested_time,
            requested_time,
            lambda: self._request(row, values),
            [self._label(row, label) for label in NUMBERED],
            [
                self._text(row, "name"),
                self._text(row, "queue" if "queue" in named else "queue_name"),
                self._text(row, "partition" if "partition" in named else "partition_name"),
            ],
            wait if patience < 0 else patience,
            patience,
        )

    def _request(self, row: _Row, values: _Row) -> Request:
        constants = self._params.constants
        units = constants.units or self._number(row, "units")
        if units == -1:
            raise UnusableError("missing_units", "no number of units is given")
        if units < 1:
            raise self._malformed("units", "expected at least 1")
        found = self.units_of(values, units)
        request = Request(
            units=found.units,
            unit_request=self.system.request(found.amounts),
            node_groups=self._node_groups(row),
            allowed_nodes=self._allowed_nodes(row),
            exclusive=self._truth(row, "exclusive"),
            one_unit_per_node=self._truth(row, "one_unit_per_node")
            or (found.per_node and constants.one_unit_per_node is True),
        )
        self.check_room(request, found.amounts)
        self.changes += ["uneven_units"] * found.uneven
        return request

    def units_of(self, values: _Row, units: int) -> EqualUnits:
        """Return the units of a row's job."""
        devices, of_job = self.system.devices, self._params.amounts == "job"
        in_parts = None if devices is None or of_job else devices.resource_type
        asked = {
            name: self._amount(values, amount, in_parts=name == in_parts)
            for name, amount in self._amounts.items()
        }
        if not any((*asked.values(), *self._unit.values())):
            raise ValueError("a unit must ask for at least one resource type")
        found = EqualUnits(units, asked, per_node=True)
        if of_job:
            whole = {name: int(amount) for name, amount in asked.items()}
            found = divided(whole, units, self._params.uneven_units, "units")
        return found._replace(amounts={**self._unit, **found.amounts})

    def _amount(self, values: _Row, asked: TableAmount, *, in_parts: bool) -> int | Fraction:
        value = given_value(values[asked.column])
        factor = 1 if asked.times is None else given_value(values[asked.times])
        if value is None or factor is None:
            if self._params.missing_request == "zero":
                return 0
            raise UnusableError("missing_request", f"column {asked.column!r}: no amount is given")
        try:
            if in_parts and value in self._mig_profiles and whole_number(factor) == 1:
                amount: int | Fraction = self._mig_profiles[value]
            elif in_parts:
                amount = exact_number(value) * Fraction(
                    whole_number(factor) * asked.unit, asked.per
                )
            elif asked.times is None and asked.unit == asked.per:
                amount = whole_number(value)
            else:
                amount = scaled(value, whole_number(factor) * Fraction(asked.unit, asked.per))
            if amount < 0:
                raise ValueError("expected 0 or more")
        except ValueError as error:
            raise ValueError(f"column {asked.column!r}: {error}") from None
        return amount

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
        if "run_time" not in columns and constants.run_time is None:
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

    def _columns_by_type(self) -> dict[str, TableAmount]:
        """Return the columns of resource types; each is one of the system."""
        requests = self._params.requests
        if requests is None:
            names = [name for name in self._rows.names if name.startswith(REQUEST_PREFIX)]
            types = {name.removeprefix(REQUEST_PREFIX): name for name in names}
            requests = {t: name for t, name in types.items() if t not in (self._params.unit or ())}
        amounts = {
            resource_type: TableAmount(column=asked) if isinstance(asked, str) else asked
            for resource_type, asked in requests.items()
            if asked is not None
        }
        for resource_type, asked in amounts.items():
            named = [name for name in (asked.column, asked.times) if name is not None]
            self._check_there(named, f"trace.requests.{resource_type}")
        if self._params.not_ended is not None:
            self._check_there([self._params.not_ended.column], "trace.not_ended.column")
        preset = self._params.preset is not None
        hint = "; 'requests: {TYPE: null}' leaves a resource type out" if preset else ""
        check_types(self.system, amounts, self.lines.path, "trace.requests", hint)
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

    def _number(self, row: _Row, field: str) -> int:
        """Return a number, -1 if it is missing; raises ValueError for any other value."""
        value = given_value(row.get(field))
        # As text: before units, and alike for CSV and Parquet.
        missing = map(str, self._params.not_given.get(cast("NumberField", field), ()))
        if value is None or str(value).removesuffix(".0") in missing:
            return -1
        try:
            return self._readers.get(field, whole_number)(value)
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

    def _duration(self, unit: DurationUnit) -> Callable[[Any], int]:
        """Return a reader of durations in a unit."""

        def read(value: Any) -> int:
            if isinstance(value, timedelta):
                return self.seconds.duration(in_seconds(value))
            return self.seconds.duration(value, _SECONDS[unit])

        return read

    def _run_time(self, row: _Row) -> int:
        if self._params.constants.run_time is not None:
            return self._params.constants.run_time
        if "run_time" in self._columns:
            return self._number(row, "run_time")
        start_time = self._number(row, "start_time")
        end_time = self._number(row, "end_time")
        if start_time < 0 or end_time < 0:
            return -1
        if end_time < start_time:
            raise self._malformed("end_time", "the job ends before it starts")
        return end_time - start_time

    def _patience(self, row: _Row, submit_time: int) -> int:
        """Return how long a job waited that has an end and no start; -1 for all others."""
        keeps = self._params.withdrawn != "skip"
        if not (keeps and {"start_time", "end_time"} <= self._columns.keys()):
            return -1
        if self._number(row, "start_time") >= 0:
            return -1
        return max(self._number(row, "end_time") - submit_time, -1)

    def _label(self, row: _Row, label: str) -> int | str | None:
        """Return the number or name of a user, group, application, queue or partition."""
        if label in self._params.named:
            return self._text(row, label)
        try:
            number = self._number(row, label)
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
            message = f"there is no node group, or model of devices, {str(unknown[0])[:40]!r}"
            raise self._malformed("node_groups", message)
        return frozenset(chain.from_iterable(self._groups[name] for name in names)) or None

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
            value = value.replace("|", " ").split()
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
