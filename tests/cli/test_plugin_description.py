"""The description of a plugin: names, distribution, parameters."""

from pydantic import Field

from hpcsched import Duration, Params, Plugin
from hpcsched.cli.plugin_commands import description, description_lines
from hpcsched.plugins.registry import Installed


class Weights(Params):
    """A model within."""

    age: float = 2.0


class Chosen(Params):
    """Parameters of a plugin."""

    limit: int = Field(description="Number of jobs.")
    wait: Duration = 60
    name_of: str | None = None
    weights: Weights = Weights()


INSTALLED = Installed(
    "queue_order",
    Plugin("mine", "a summary", lambda *_: None, Chosen, aliases=("my-own",)),
    "acme",
    "2.0",
)


def test_lines() -> None:
    """Each parameter has its default, and its text if it has one."""
    assert list(description_lines(INSTALLED)) == [
        "queue order mine: a summary",
        "  from acme 2.0",
        "  also called my-own",
        "  parameters, with their defaults:",
        "    limit: (required)",
        "        Number of jobs.",
        "    wait: 60",
        "    name_of: none",
        '    weights: {"age": 2.0}',
    ]


def test_content() -> None:
    """Parameters are a JSON Schema."""
    content = description(INSTALLED)
    assert (content["kind"], content["name"], content["distribution"]) == (
        "queue_order",
        "mine",
        "acme",
    )
    assert content["parameters"]["required"] == ["limit"]
