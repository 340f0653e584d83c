"""Dispatch latency in a scenario."""

import re
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from hpcsched.parameters import LARGEST, NotReproducible, Params, parse_duration
from hpcsched.scenario.refusal import refusal, refuse
from hpcsched.simulation.latency import Latency

_SECONDS_PATTERN = r"^\s*(\d+\s*ms|(\d+\s*(s|min|h|d|w)\s*)+)\s*$"


def _read_seconds(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    # Durations elsewhere are whole seconds, so that `ms` is a unit in this block alone.
    milliseconds = re.fullmatch(r"(\d+)\s*ms", value.strip())
    return int(milliseconds[1]) / 1000 if milliseconds else parse_duration(value)


# Type checkers must see a plain float; pydantic needs the annotations at run time.
if TYPE_CHECKING:
    Seconds = float
else:
    Seconds = Annotated[
        float,
        Field(ge=0, le=LARGEST),
        BeforeValidator(_read_seconds),
        WithJsonSchema(
            {
                "anyOf": [
                    {"type": "number", "minimum": 0},
                    {"type": "string", "pattern": _SECONDS_PATTERN},
                ]
            }
        ),
    ]
    """Seconds and fractions of them: a number, or a text with units (`120ms`, `2s`)."""

_FORMS = "fixed, or measured, or some of base, per_queued_job and per_variable"


class DispatchLatency(Params):
    """Charge of a dispatching round: a fixed time, a model of it, or the measured time."""

    fixed: Seconds | None = Field(
        default=None,
        description="Constant latency of every round: seconds (0.12), or with a unit (120ms, 2s).",
    )
    base: Seconds | None = Field(
        default=None,
        description="Latency model, constant term: seconds, or with a unit.",
    )
    per_queued_job: Seconds | None = Field(
        default=None,
        description="Latency model, term for each queued job: seconds, or with a unit.",
    )
    per_variable: Seconds | None = Field(
        default=None,
        description=(
            "Latency model, term for each decision variable if a solver was called: seconds, or"
            " with a unit."
        ),
    )
    measured: Annotated[
        float | None, NotReproducible("the dispatch latency is measured by the clock")
    ] = Field(
        default=None,
        ge=0,
        le=1_000_000,
        description="Factor of the measured decision time (no unit).",
    )

    @model_validator(mode="after")
    def _check_form(self) -> Self:
        given = [
            [key for key in form if getattr(self, key) is not None]
            for form in (("fixed",), ("measured",), ("base", "per_queued_job", "per_variable"))
        ]
        used = [keys for keys in given if keys]
        if not used:
            raise ValueError(f"expected {_FORMS}, found nothing")
        if len(used) > 1:
            first, other = used[0][0], used[1][0]
            message = f"expected {_FORMS}, found {other} beside {first}"
            raise refuse(refusal("bad-value", message, getattr(self, other), at=(other,)))
        return self

    def build(self) -> Latency:
        """Return the declared charge, exactly as its numbers are written."""
        return Latency(
            _exact(self.base if self.fixed is None else self.fixed),
            _exact(self.per_queued_job),
            _exact(self.per_variable),
            _exact(self.measured),
        )


def _exact(number: float | None) -> Fraction:
    """Return a number as it is written: 0.1 is a tenth."""
    # `Fraction(0.7)` is the binary number just below seven tenths: ten rounds of 0.7 s would be
    # charged 6 s in all instead of 7.
    return Fraction(repr(number or 0.0))
