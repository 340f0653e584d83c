"""Usage errors of options in plain words, with the expected and the given value."""

from typing import Any

import typer
from typer.core import TyperGroup

_PREFIX = "Value error, "


class PlainGroup(TyperGroup):
    """Commands with errors about values of options in plain words."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was given."""
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            error.message = _plain(error)
            raise


def _plain(error: Any) -> str:
    """Return the message of an error about a value, which pydantic may have found."""
    message = str(error.message)
    # Other versions of typer have no such cause, and say it themselves.
    if hasattr(error.__cause__, "errors"):
        from hpcsched.scenario.faults import sentence

        return sentence(error.__cause__.errors()[0])
    return message.removeprefix(_PREFIX)
