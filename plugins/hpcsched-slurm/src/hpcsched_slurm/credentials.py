"""Tokens for slurmrestd, and its errors in words.

A token is never written anywhere, and never given to a program as an argument: commands get it in
their environment.
"""

import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hpcsched import Finding, InputError, Place

VARIABLE = "SLURM_JWT"


class Token:
    """A token, which shows as three dots wherever it is printed."""

    def __init__(self, secret: str) -> None:
        self._secret = secret

    def __repr__(self) -> str:
        return "Token(...)"

    def reveal(self) -> str:
        """Return the token, for the header of a request or the environment of a command only."""
        return self._secret


def read_token(file: str | None) -> Token:
    """Return the token in a file, or in the environment where none is named.

    Raises InputError where it is not there, or others than its owner may read the file.
    """
    if file is None:
        secret = os.environ.get(VARIABLE, "").strip()
        if not secret:
            message = f"a token is needed: name a 'token_file', or set {VARIABLE}"
            raise InputError(Finding("no-token", message))
        return Token(secret)
    path = Path(file)
    try:
        with path.open(encoding="utf-8") as opened:
            status = os.fstat(opened.fileno())
            if status.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
                message = "others than its owner may use it; expected permissions 0600"
                raise InputError(Finding("open-token", message, Place(file)))
            if status.st_uid not in {os.geteuid(), 0}:
                message = "it is neither yours nor root's"
                raise InputError(Finding("open-token", message, Place(file)))
            secret = opened.read().strip()
    except OSError as error:
        message = f"it cannot be read: {error.strerror}"
        raise InputError(Finding("no-token", message, Place(file))) from error
    secret = secret.removeprefix(f"{VARIABLE}=")
    if not secret or not secret.isascii() or any(letter.isspace() for letter in secret):
        raise InputError(Finding("no-token", "it holds no token", Place(file)))
    return Token(secret)


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
