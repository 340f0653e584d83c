"""Parameters of the trace source `swf`, and the resource types that a log announces."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal

from pydantic import Field

from hpcsched.errors import InputError
from hpcsched.parameters import UnitAmounts
from hpcsched.registration import Caution
from hpcsched.system.space import room_for
from hpcsched.system.system import System
from hpcsched.workload.readers.header_machine import header_machine, other_machine
from hpcsched.workload.readers.policies import RecordPolicies
from hpcsched.workload.readers.swf_lines import SwfLines
from hpcsched.workload.readers.text_encoding import TextEncoding

UNIT_RESOURCES = "UnitResources:"


class SwfParams(RecordPolicies):
    """Parameters of `swf`: the log, and policies for records that cannot be used as they are."""

    unit: UnitAmounts | None = Field(
        None,
        description="Request of each processor, by resource type; by default the header's"
        " UnitResources, else one core.",
    )
    mapping: Literal["one_each", "whole_nodes"] = Field(
        "one_each",
        description="Meaning of a requested processor: a job unit each, or a part of units that are"
        " as large as a node of the largest group allows.",
    )
    requested_memory: Literal["ignore", "use"] = Field(
        "ignore",
        description="Read field 10, the requested memory per processor in KiB, as the request of"
        " `mem`; jobs without it get that of `unit`.",
    )
    missing_processors: Literal["allocated", "skip", "error"] = Field(
        "allocated",
        description="Policy for requested processors that are not given: those allocated,"
        " if given.",
    )
    dependencies: Literal["ignore", "honour"] = Field(
        "ignore",
        description="Let a job wait for the end of its preceding job (field 17), and then for the"
        " think time (field 18).",
    )


def review_swf(params: SwfParams, system: System) -> Iterator[Caution]:
    """Yield cautions if no node holds a unit, or if the header tells another machine."""
    comments = header_of(Path(params.path), TextEncoding(params.encoding))
    types = declared_types(comments)
    unit = None if params.unit is None else parted(params.unit, system)[0]
    if unit is None:
        known = {*system.resource_types, *(resource.name for resource in system.shared_resources)}
        lacking = set(types) - known
        if lacking:
            names = ", ".join(sorted(lacking))
            message = f"its units ask for {names}, which no node group has; the run will be refused"
            yield Caution("unknown-resource-type", message, "path")
    elif set(unit) <= set(system.resource_types) and not room_for(system, system.request(unit)):
        yield Caution("no-node-holds-unit", "no node can hold a unit that asks for this", "unit")
    of_processor = unit if unit is not None else {} if types else {"core": 1}
    yield from other_machine(header_machine(comments), system, of_processor)


def parted(amounts: Mapping[str, int], system: System) -> tuple[dict[str, int], dict[str, int]]:
    """Split the amounts of a unit into those of nodes and those of shared resources.

    Parameters
    ----------
    amounts
        Declared amounts by name.
    """
    shared_resources = {resource.name for resource in system.shared_resources}
    of_nodes = {name: amount for name, amount in amounts.items() if name not in shared_resources}
    return of_nodes, {name: amount for name, amount in amounts.items() if name in shared_resources}


def types_in_records(path: Path, encoding: TextEncoding | None = None) -> list[str]:
    """Return the resource types with amounts in a log's records; empty if the log is missing.

    Parameters
    ----------
    encoding
        Its encoding; UTF-8 if not given.
    """
    return declared_types(header_of(path, encoding))


def header_of(path: Path, encoding: TextEncoding | None = None) -> list[str]:
    """Return the header comments of a log; empty if it cannot be read.

    Parameters
    ----------
    encoding
        Its encoding; UTF-8 if not given.
    """
    lines = SwfLines(path, encoding)
    # The run will say what is wrong.
    with suppress(InputError):
        lines.read_header()
    return lines.comments


def declared_types(comments: Sequence[str]) -> list[str]:
    """Return the resource types that header comments announce; empty without any."""
    for comment in comments:
        # The first such comment counts, as the header of a log is read once.
        if comment.startswith(UNIT_RESOURCES):
            return comment.removeprefix(UNIT_RESOURCES).split()
    return []
