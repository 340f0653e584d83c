"""Usage errors in plain words: the expected and the given value, or what is not installed."""

from typing import Any

import typer
from typer.core import TyperGroup

_PREFIX = "Value error, "


class PlainGroup(TyperGroup):
    """Commands with usage errors in plain words."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that was named; say which package adds one that is not installed."""
        if args and self.get_command(ctx, args[0]) is None:
            from hpcsched.plugins.registry import ELSEWHERE

            name = " ".join([*ctx.command_path.split()[1:], args[0]])
            extra = ELSEWHERE.get(("command", name))
            if extra is not None:
                ctx.fail(f"the command {name!r} is not installed; pip install 'hpcsched[{extra}]'")
        return super().resolve_command(ctx, args)

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
