"""Parameters of the trace source `table`: columns, constants, and policies."""

from typing import Annotated, ClassVar, Literal, Self
from zoneinfo import ZoneInfo

from pydantic import (
    Field,
    SerializerFunctionWrapHandler,
    field_validator,
    model_serializer,
    model_validator,
)

from hpcsched.parameters import Listed, Params, PositiveDuration, UnitAmounts
from hpcsched.workload.readers.policies import FRACTIONS, FractionalSeconds, RecordPolicies

_Column = Annotated[str, Field(min_length=1)]
_Number = Annotated[int, Field(ge=0)]

Label = Literal["user", "group", "application", "queue", "partition"]
LABELS: tuple[Label, ...] = ("user", "group", "application", "queue", "partition")


class TableColumns(Params):
    """Columns of a table by field of a job.

    A field that is not named is read from the column of its own name, if there is one; null
    prevents that.
    """

    former_keys: ClassVar = {"scatter": "one_unit_per_node"}

    job_id: _Column | None = Field(
        None, description="The job's number; without it, rows are numbered from 1."
    )
    submit_time: _Column | None = Field(None, description="When the job was submitted.")
    start_time: _Column | None = Field(
        None,
        description="When it started; used with end_time where there is no run_time, and for the"
        " wait that the table records.",
    )
    end_time: _Column | None = Field(None, description="When it ended.")
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
        None, description="The node groups on which it may run; a list, or text between spaces."
    )
    allowed_nodes: _Column | None = Field(
        None, description="The numbers of the nodes on which it may run, in the same forms."
    )
    exclusive: _Column | None = Field(
        None, description="Whether it keeps other jobs off its nodes: true or false, 1 or 0."
    )
    one_unit_per_node: _Column | None = Field(
        None, description="Whether each unit needs a node of its own, in the same forms."
    )

    @model_serializer(mode="wrap")
    def _given(self, dump: SerializerFunctionWrapHandler) -> dict[str, str | None]:
        """Return the given fields only: null in a resolved scenario would prevent the default."""
        return {name: value for name, value in dump(self).items() if name in self.model_fields_set}


class TableConstants(Params):
    """Values of all jobs, in place of columns."""

    units: int | None = Field(None, ge=1, description="Number of units of each job.")
    requested_time: PositiveDuration | None = Field(None, description="The limit of each job.")
    user: _Number | None = Field(None, description="The user of all jobs.")
    group: _Number | None = Field(None, description="The group of users of all jobs.")
    application: _Number | None = Field(None, description="The application of all jobs.")
    queue: _Number | None = Field(None, description="The queue of all jobs.")
    partition: _Number | None = Field(None, description="The partition of all jobs.")


class TableParams(RecordPolicies):
    """Parameters of `table`: the table, its columns, and policies for rows."""

    columns: TableColumns = Field(
        default_factory=TableColumns, description="Columns by field of a job."
    )
    requests: dict[str, _Column] | None = Field(
        None,
        description="For each resource type, the column with the amount that a unit asks for;"
        " without it, columns called unit_request.TYPE, if there are any.",
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
    time_zone: str | None = Field(
        None,
        description="The zone (Europe/Paris) of times that are written without an offset from UTC.",
    )
    named: Annotated[tuple[Label, ...], Listed] = Field(
        (),
        description="Which of user, group, application, queue and partition are names; names are"
        " numbered from 1 as they appear.",
    )
    delimiter: str = Field(
        ",", min_length=1, max_length=1, description="Separator of the values of a CSV file."
    )
    fractional_seconds: FractionalSeconds = Field("outward", description=FRACTIONS)
    missing_units: Literal["error", "skip"] = Field(
        "error", description="Policy for a job whose number of units is not given."
    )
    missing_request: Literal["error", "zero", "skip"] = Field(
        "error", description="Policy for an amount that is not given; `zero` reads it as 0."
    )

    @field_validator("time_zone")
    @classmethod
    def _zone_is_known(cls, zone: str | None) -> str | None:
        if zone is not None:
            try:
                ZoneInfo(zone)
            except (ValueError, OSError, LookupError):
                raise ValueError(
                    f"expected a time zone such as Europe/Paris, found {zone!r}"
                ) from None
        return zone

    @field_validator("delimiter")
    @classmethod
    def _delimiter_separates(cls, delimiter: str) -> str:
        if delimiter in '"\r\n' or not delimiter.isascii():
            raise ValueError(f"expected a sign such as ',' or ';', found {delimiter!r}")
        return delimiter

    @model_validator(mode="after")
    def _say_things_once(self) -> Self:
        for key in TableConstants.model_fields:
            if getattr(self.constants, key) is not None and getattr(self.columns, key) is not None:
                raise ValueError(f"{key} has both a column and a constant; expected one of them")
        ends = self.columns.start_time or self.columns.end_time
        if self.columns.run_time and ends:
            raise ValueError(
                "columns has both run_time and start_time or end_time; expected the run time, or"
                " the start and the end"
            )
        for name in self.requests or ():
            if name in (self.unit or ()):
                raise ValueError(
                    f"{name} has both a column, under 'requests', and an amount, under 'unit';"
                    " expected one of them"
                )
        return self
