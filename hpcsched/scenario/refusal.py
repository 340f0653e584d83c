"""Refusals within a pydantic validation: a rule, a message and a key path."""

from typing import Any

from pydantic import ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

from hpcsched.scenario.key_path import KeyPath

REFUSED = "refused"
"""The pydantic error type of every refusal; its context holds `rule` and `message`."""


def refusal(rule: str, message: str, value: Any, at: KeyPath = ()) -> InitErrorDetails:
    """Return one refusal, to be raised by `refuse`."""
    error = PydanticCustomError(REFUSED, "{message}", {"rule": rule, "message": message})
    return InitErrorDetails(type=error, loc=at, input=value)


def refuse(*refusals: InitErrorDetails) -> ValidationError:
    """Return the exception that carries refusals, to be raised by a validator."""
    return ValidationError.from_exception_data("scenario", list(refusals))
