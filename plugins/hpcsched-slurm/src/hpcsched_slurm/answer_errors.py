"""Errors that Slurm names in an answer as JSON, which may have an empty list beside them."""

from collections.abc import Mapping
from typing import Any

_UNSPECIFIED = "Unspecified error"


def error_list(content: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the errors in an answer."""
    errors = content.get("errors")
    if not isinstance(errors, list):
        return []
    return [error for error in errors if isinstance(error, dict)]


def errors_in_words(content: Mapping[str, Any]) -> str:
    """Return the errors in an answer as one text; empty without errors."""
    return "; ".join(filter(None, map(_in_words, error_list(content))))


def _in_words(error: Mapping[str, Any]) -> str:
    said = [error.get("error"), error.get("description"), error.get("error_number")]
    texts = [str(text) for text in said if text]
    # Slurm's text for errors without a number of their own says nothing.
    return next((text for text in texts if text != _UNSPECIFIED), "".join(texts[:1]))
