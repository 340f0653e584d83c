"""Header of a file of dispatching problems."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from hpcsched.scenario import Scenario, resolved_yaml
from hpcsched.scenario.faults import found
from hpcsched.scenario.system import SystemDeclaration
from hpcsched.studies.problems.lines import Amount, in_words
from hpcsched.version import __version__

FORMAT = "hpcsched-instances"
VERSION = 2
"""Version of the format that is written."""

READABLE = (1, VERSION)
"""Versions that are read; 2 has shared resources, and names of queues and partitions."""


class Selection(BaseModel):
    """Selection of the dispatching problems to save.

    Attributes
    ----------
    every
        Save the first matching problem and every n-th after it.
    min_queued, max_queued
        Bounds on the number of queued jobs of a matching problem; None for no bound.
    limit
        Largest number of problems; None for all.
    """

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    every: int = Field(default=1, ge=1)
    min_queued: int = Field(default=0, ge=0)
    max_queued: int | None = Field(default=None, ge=0)
    limit: int | None = Field(default=None, ge=1)


class Header(BaseModel):
    """First line of a file: the replay that its problems come from.

    Attributes
    ----------
    scenario
        The resolved scenario as YAML.
    uniform_request
        Unit request of every job, where free resources are stated as slots; None where by node.
    """

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    format: str
    version: int
    hpcsched: str
    scenario_name: str
    scenario: str
    system: SystemDeclaration
    uniform_request: tuple[Amount, ...] | None
    selection: Selection


def header_of(
    scenario: Scenario, uniform_request: tuple[int, ...] | None, selection: Selection
) -> Header:
    """Return the header for the problems of a replay of this scenario."""
    return Header(
        format=FORMAT,
        version=VERSION,
        hpcsched=__version__,
        scenario_name=scenario.name,
        scenario=resolved_yaml(scenario),
        system=scenario.system,
        uniform_request=uniform_request,
        selection=selection,
    )


def parse_header(content: Any, line: bytes) -> Header:
    """Return the header in a line with the JSON value `content`.

    Raises
    ------
    ValueError
        If it is malformed; the text says what was expected and found.
    """
    if not isinstance(content, Mapping) or content.get("format") != FORMAT:
        given = content.get("format") if isinstance(content, Mapping) else content
        raise ValueError(f"expected a header with format {FORMAT!r}, found {found(given)}")
    # In Python `True == 1`, and JSON has both.
    if content.get("version") not in READABLE or content["version"] is True:
        version = found(content.get("version"))
        raise ValueError(
            f"expected version {' or '.join(map(str, READABLE))} of the format, found {version};"
            f" this is hpcsched {__version__}"
        )
    try:
        header = Header.model_validate_json(line)
    except ValidationError as error:
        raise ValueError(f"in the header, {in_words(error)}") from None
    request, types = header.uniform_request, header.system.build().resource_types
    # Slots count the resources of nodes alone, so a draw from a shared resource would not be seen.
    if request is not None and header.system.shared_resources:
        raise ValueError(
            "in the header, uniform_request: expected null where the system has shared resources,"
            f" found {list(request)}"
        )
    if request is not None and (len(request) != len(types) or not any(request)):
        raise ValueError(
            f"in the header, uniform_request: expected amounts of {', '.join(types)},"
            f" found {list(request)}"
        )
    return header
