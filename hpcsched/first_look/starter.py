"""Starter scenarios, commented, each with the schema that editors check it by."""

from importlib.resources import files
from pathlib import Path

from hpcsched.plugins import manager
from hpcsched.results.files import problem, write_json, write_text
from hpcsched.scenario.scenario_schema import scenario_schema

KINDS = ("log", "slurm", "site")
"""Kinds of starters: a log on one machine, a site that runs Slurm, a site with all its rules."""

SCHEMA = "scenario.schema.json"


def starter_text(kind: str) -> str:
    """Return a starter scenario as YAML."""
    return (files("hpcsched.first_look") / "starters" / f"{kind}.yaml").read_text(encoding="utf-8")


def write_starter(kind: str, out: Path, *, force: bool = False) -> list[Path]:
    """Write a starter scenario, and the schema beside it; return the paths.

    Parameters
    ----------
    kind
        One of `KINDS`.
    out
        File to write.
    force
        Whether existing files are replaced.

    Raises
    ------
    InputError
        A file is there already, or cannot be written.
    """
    schema = out.with_name(SCHEMA)
    for path in (out, schema):
        if path.exists() and not force:
            raise problem("file-exists", path, "it is there already; --force replaces it")
    write_text(out, starter_text(kind))
    write_json(schema, scenario_schema(manager.registry()))
    return [out, schema]
