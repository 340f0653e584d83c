"""Request of a unit in a scenario, where the trace has none."""

from typing import Annotated

from pydantic import AfterValidator

from hpcsched.parameters import Amount


def _asks_for_something(amounts: dict[str, int]) -> dict[str, int]:
    if not any(amounts.values()):
        raise ValueError("expected an amount of at least one resource type, found none")
    return amounts


UnitAmounts = Annotated[dict[str, Amount], AfterValidator(_asks_for_something)]
"""Amounts by resource type, not all of them 0: a unit that requests nothing would fit anywhere."""
