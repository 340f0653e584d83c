"""Parameters of the trace source `table`: columns, units, constants, and policies."""

from typing import Annotated, Any, Literal, Self

from pydantic import (
    Field,
    SerializerFunctionWrapHandler,
    ValidationInfo,
    field_validator,
    model_serializer,
    model_validator,
)

from hpcsched.parameters import (
    InputPath,
    Listed,
    Params,
    PositiveAmount,
    PositiveDuration,
    UnitAmounts,
)
from hpcsched.workload.presets.preset_catalogue import find_preset, merged, read_presets
from hpcsched.workload.readers.policies import (
    FRACTIONS,
    FractionalSeconds,
    RecordPolicies,
)
from hpcsched.workload.trace_calendar import TimeZoneName

_Column = Annotated[str, Field(min_length=1)]

Label = Literal["user", "group", "application", "queue", "partition"]
LABELS: tuple[Label, ...] = ("user", "group", "application", "queue", "partition")

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

    job_id: _Column | None = Field(
        None, description="The job's number; without it, rows are numbered from 1."
    )
    submit_time: _Column | None = Field(None, description="Submit time.")
    start_time: _Column | None = Field(
        None,
        description="Start time; used with end_time if no run_time is named, and for recorded wait"
        " times.",
    )
    end_time: _Column | None = Field(None, description="End time.")
    run_time: _Column | None = Field(None, description="Run time, in seconds.")
    requested_time: _Column | None = Field(None, description="The user's limit, in seconds.")
    units: _Column | None = Field(None, description="Number of units.")
    user: _Column | None = Field(None, description="The number or name of the user.")
    group: _Column | None = Field(None, description="The number or name of the group of users.")
    application: _Column | None = Field(None, description="The number or name of the application.")
    queue: _Column | None = Field(None, description="The number or name of the queue.")
    partition: _Column | None = Field(None, description="The number or name of the partition.")
    queue_name: _Column | None = Field(None, description="Name of the queue.")
    partition_name: _Column | None = Field(None, description="Name of the partition.")
    name: _Column | None = Field(None, description="The job's name.")
    node_groups: _Column | None = Field(
        None,
        description="Node groups on which the job may run; a list, or names separated by spaces.",
    )
    allowed_nodes: _Column | None = Field(
        None, description="Numbers of the nodes on which the job may run, in the same forms."
    )
    exclusive: _Column | None = Field(
        None, description="Exclusive use of the nodes: true or false, 1 or 0."
    )
    one_unit_per_node: _Column | None = Field(
        None, description="One unit per node, in the same forms."
    )

    @model_serializer(mode="wrap")
    def _given(self, dump: SerializerFunctionWrapHandler) -> dict[str, str | None]:
        """Return the given fields only: null in a resolved scenario would prevent the default."""
        return {name: value for name, value in dump(self).items() if name in self.model_fields_set}


class TableConstants(Params):
    """Values of all jobs, in place of columns."""

    units: int | None = Field(None, ge=1, description="Number of units of each job.")
    requested_time: PositiveDuration | None = Field(None, description="The limit of each job.")
    one_unit_per_node: bool | None = Field(
        None,
        description="Whether each unit needs a node of its own, unless uneven amounts were spread.",
    )


class TableAmount(Params):
    """Column with amounts in another unit: value × unit / per, rounded up."""

    column: _Column = Field(description="The column.")
    times: _Column | None = Field(
        None, description="Another column, by whose value the amount is multiplied."
    )
    unit: PositiveAmount = Field(1, description="Amount that the value 1 means: 1MiB for MiB.")
    per: int = Field(1, ge=1, description="The value that means one unit: 100 for percent.")


class TableDurations(Params):
    """Units of the columns with durations."""

    run_time: DurationUnit = Field("s", description="Unit of run times.")
    requested_time: DurationUnit = Field("s", description="Unit of requested times.")


class NotEnded(Params):
    """Column with states of jobs, and those of jobs that have not ended."""

    column: _Column = Field(description="The column.")
    values: Annotated[tuple[str, ...], Listed] = Field(
        min_length=1, description="States of jobs whose rows are set aside, counted as not_ended."
    )


class TableParams(RecordPolicies):
    """Parameters of `table`: the table, its columns, and policies for rows."""

    path: InputPath = Field(
        description="The table, or a folder of tables, plain or compressed; ${VAR} is filled in."
    )
    preset: str | None = Field(
        None,
        description="A known data set (`hpcsched trace presets`), whose columns and units need no"
        " naming; other keys replace what the preset says.",
    )
    format: Literal["table", "philly", "eurora"] = Field(
        "table",
        description="CSV or Parquet, as the content tells; or the job log of Microsoft's Philly, or"
        " of Eurora.",
    )
    column_names: Annotated[tuple[_Column, ...] | None, Listed] = Field(
        None, description="Names of the columns of a CSV file without a line that names them."
    )
    columns: TableColumns = Field(
        default_factory=TableColumns, description="Columns by field of a job."
    )
    requests: dict[str, _Column | TableAmount | None] | None = Field(
        None,
        description="Column with the amount, by resource type, or its name, unit and factor; null"
        " leaves out a type of the preset. By default the columns unit_request.TYPE.",
    )
    amounts: Literal["unit", "job"] = Field(
        "unit",
        description="Basis of these amounts: each unit, or the whole job.",
    )
    uneven_units: Literal["spread", "up", "skip", "error"] = Field(
        "spread",
        description="Policy for amounts of a whole job that cannot be divided equally among its"
        " units: smallest equal parts as units, rounding up for every unit (both counted as"
        " clippings), or an error.",
    )
    unit: UnitAmounts | None = Field(
        None,
        description="Request of each unit, for resource types without a column; one core if no"
        " resource type has one.",
    )
    constants: TableConstants = Field(
        default_factory=TableConstants, description="Constant values, which replace columns."
    )
    times: Literal["seconds", "iso"] = Field(
        "seconds",
        description="Format of submit, start and end times: seconds, or ISO 8601"
        " (2024-05-01T12:30:00+02:00). Time stamps of a Parquet file are understood anyway.",
    )
    time_unit: Literal["s", "ms"] = Field(
        "s", description="Unit of submit, start and end times that are numbers."
    )
    durations: TableDurations = Field(
        default_factory=TableDurations, description="Units of run times and requested times."
    )
    not_given: dict[NumberField, list[int]] = Field(
        default_factory=dict,
        description="Numbers that mean a missing value, by field, beside -1.",
    )
    not_ended: NotEnded | None = Field(
        None, description="States of jobs that have not ended, which are no jobs yet."
    )
    time_zone: TimeZoneName | None = Field(
        None,
        description="The zone (Europe/Paris) of times that are written without an offset from UTC.",
    )
    named: Annotated[tuple[Label, ...], Listed] = Field(
        (),
        description="Fields that hold names: any of user, group, application, queue, partition;"
        " names are numbered from 1 as they appear.",
    )
    delimiter: str = Field(
        ",", pattern=r'^[^"\s]$|^\t$', description="Separator of the values of a CSV file."
    )
    fractional_seconds: FractionalSeconds = Field("outward", description=FRACTIONS)
    missing_units: Literal["error", "skip"] = Field(
        "error", description="Policy for a job without a number of units."
    )
    missing_request: Literal["error", "zero", "skip"] = Field(
        "error", description="Policy for an amount that is not given; `zero` reads it as 0."
    )

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
