"""Requests of the rows of a table: amounts by resource type, and the units that share them."""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from hpcsched.workload.readers.accounting_logs.equal_units import EqualUnits, on_nodes, smallest
from hpcsched.workload.readers.policies import UnusableError
from hpcsched.workload.readers.quantities import scaled, whole_number
from hpcsched.workload.readers.table_source_params import TableAmount, TableParams

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
        """Return the units of a row's job.

        Raises
        ------
        UnusableError
            If an amount is missing or no number, or cannot be shared equally and a policy refuses.
        """
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
