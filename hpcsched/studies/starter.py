"""Starter scenarios, commented, each with the schema that editors check it by."""

import json
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

from hpcsched.plugins import manager
from hpcsched.runs.files import write_json
from hpcsched.scenario.scenario_schema import scenario_schema
from hpcsched.studies.first_look import look_at, look_lines
from hpcsched.studies.trial_scenarios import scenario_text
from hpcsched.whole_files import check_target, write_text

KINDS = ("log", "site")
"""Kinds of starters: a log on one machine, a site with all its rules."""

SCHEMA = "scenario.schema.json"


def starter_text(kind: str) -> str:
    """Return a starter scenario as YAML."""
    return (files("hpcsched.studies") / "starters" / f"{kind}.yaml").read_text(encoding="utf-8")


def log_starter_text(log: Path, tell: Callable[[str], None] = lambda _: None) -> str:
    """Return a starter scenario for a log, on the machine that its header or its jobs tell.

    Parameters
    ----------
    log
        The log.
    tell
        Called with what is found in the log.

    Raises
    ------
    InputError
        It cannot be read, or needs more than its content to be described.
    """
    look = look_at(log, ("easy",))
    for line in look_lines(look):
        tell(line)
    text = scenario_text(look.configurations[0], look.log, look.machine, look.objective)
    return f"# yaml-language-server: $schema={SCHEMA}\n{text}"


def write_starter(text: str, out: Path, *, force: bool = False) -> list[Path]:
    """Write a starter scenario, and the schema beside it; return the paths that were written.

    Raises
    ------
    InputError
        A file is there already or cannot be written.
    """
    schema = out.with_name(SCHEMA)
    content = scenario_schema(manager.registry())
    # The schema of an earlier scenario in the folder is the same file.
    written = [out] if _holds(schema, content) else [out, schema]
    for path in written:
        check_target(path, force=force)
    write_text(out, text)
    if schema in written:
        write_json(schema, content)
    return written


def _holds(path: Path, content: Any) -> bool:
    """Return True if a file is there and holds this content as JSON."""
    try:
        return bool(json.loads(path.read_text(encoding="utf-8")) == content)
    except (OSError, ValueError):
        return False
