"""The parts of a scenario, for commands that read its trace."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from hpcsched.runs.assembly import Assembly


def assembled(path: Path, overrides: list[str] | None) -> "Assembly":
    """Return the parts of a scenario, or of one for a log; raise InputError without its files."""
    from hpcsched.errors import InputError
    from hpcsched.first_look.first_look import document_of
    from hpcsched.runs.assembly import assemble
    from hpcsched.scenario.loading import check_document
    from hpcsched.scenario.review import missing_inputs

    document = document_of(path, lambda line: typer.echo(line, err=True))
    loaded = check_document(document, path, overrides or ())
    missing = missing_inputs(loaded, "error")
    if missing:
        raise InputError(missing)
    return assemble(loaded.scenario)
