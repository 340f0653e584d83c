"""File names of a run directory, and its files in JSON."""

import json
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from hpcsched.whole_files import file_error, write_text

_Model = TypeVar("_Model", bound=BaseModel)

SCENARIO = "scenario.yaml"
MANIFEST = "manifest.json"
JOBS = "jobs.parquet"
ROUNDS = "rounds.parquet"
SUMMARY = "summary.json"
TIMING = "timing.json"
EVENTS = "events.jsonl"
REASONS = "reasons.parquet"
USAGE = "usage.parquet"
STATE = "state.json"
OUTAGES = "outages.parquet"
INTERRUPTIONS = "interruptions.parquet"
SHARED_RESOURCES = "shared_resources.parquet"
ADVICE = "advice.jsonl"
TRACE_ANSWERS = "trace_answers.zip"

KNOWN = (SCENARIO, MANIFEST, JOBS, ROUNDS, SUMMARY, TIMING)
OPTIONAL = (
    *(EVENTS, REASONS, USAGE, STATE, OUTAGES, INTERRUPTIONS, SHARED_RESOURCES, ADVICE),
    TRACE_ANSWERS,
)
"""Files that only some runs have, and the state of a run in progress."""

STATES = ("completed", "killed", "rejected", "failed", "preempted", "withdrawn")
"""States in which jobs leave the system, as in `summary.json`."""


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Write JSON atomically, keys in the given order."""
    write_text(path, json_text(content))


def json_text(content: dict[str, Any]) -> str:
    """Return JSON as files have it, keys in the given order."""
    return json.dumps(content, indent=2, allow_nan=False, ensure_ascii=False) + "\n"


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise file_error("missing-file", path, f"it cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise file_error("damaged-file", path, f"it is damaged: not JSON: {error}") from error
    if not isinstance(content, dict):
        found = type(content).__name__
        raise file_error("damaged-file", path, f"it is damaged: expected an object, found {found}")
    return content


def read_model(path: Path, model: type[_Model], version: int) -> _Model:
    """Read a JSON object that follows a model, and says so in `format`."""
    content = read_json(path)
    # Before validation: another format would be reported as a damaged file.
    found = content.get("format")
    if found != version:
        message = f"it has format {found!r}; this version of hpcsched reads format {version}"
        raise file_error("unknown-format", path, message)
    try:
        return model.model_validate(content)
    except ValidationError as error:
        # One is enough: the file is written by this program, so all have the same cause.
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"]))
        raise file_error("damaged-file", path, f"it is damaged: {key}: {first['msg']}") from error
