"""Findings as text, JSON and GitHub's workflow commands."""

import os
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

from hpcsched.errors import Finding

JSON_VERSION = 1
"""Version of the JSON content; it grows when a key changes or goes, not when one is added."""


def as_text(findings: Sequence[Finding], files: int) -> str:
    """Return one line a finding, and a line that counts them."""
    errors, warnings = _count(findings)
    count = ", ".join((_many(files, "file"), _many(errors, "error"), _many(warnings, "warning")))
    return "\n".join([*map(str, findings), count])


def findings_content(findings: Sequence[Finding], files: int) -> dict[str, Any]:
    """Return the counts and the list of findings for JSON.

    Returns
    -------
    dict
        A finding has `file`, `line`, `column` (numbers from 1, or null), `severity` (error or
        warning), `rule`, `key` (a key path, or empty) and `message`.
    """
    errors, warnings = _count(findings)
    items = [
        {
            "file": finding.place.file if finding.place else None,
            "line": finding.place.line if finding.place else None,
            "column": finding.place.column if finding.place else None,
            "severity": finding.severity,
            "rule": finding.rule,
            "key": finding.key,
            "message": finding.message,
        }
        for finding in findings
    ]
    counts = {"files": files, "errors": errors, "warnings": warnings}
    return {"version": JSON_VERSION, **counts, "findings": items}


def as_github(findings: Sequence[Finding]) -> str:
    """Return the workflow commands that put findings beside the lines of a pull request."""
    return "\n".join(map(_github_command, findings))


def relative(file: str) -> str:
    """Return a path relative to the working directory, with forward slashes."""
    return PurePath(os.path.relpath(file)).as_posix()


def _github_command(finding: Finding) -> str:
    place = finding.place
    properties = {
        "file": relative(place.file) if place else None,
        "line": place.line if place else None,
        "col": place.column if place else None,
        "title": finding.rule,
    }
    listed = ",".join(
        f"{name}={_escape(str(value), ':,')}"
        for name, value in properties.items()
        if value is not None
    )
    message = f"{finding.key}: {finding.message}" if finding.key else finding.message
    return f"::{finding.severity} {listed}::{_escape(message)}"


def _escape(text: str, more: str = "") -> str:
    for character in f"%\r\n{more}":
        text = text.replace(character, f"%{ord(character):02X}")
    return text


def _count(findings: Sequence[Finding]) -> tuple[int, int]:
    errors = sum(finding.severity == "error" for finding in findings)
    return errors, len(findings) - errors


def _many(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
