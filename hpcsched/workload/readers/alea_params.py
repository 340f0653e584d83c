"""Parameters of the trace source `alea`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from hpcsched.parameters import Listed
from hpcsched.registration import Caution
from hpcsched.system.system import System
from hpcsched.workload.readers.header_machine import header_machine, other_machine
from hpcsched.workload.readers.policies import RecordPolicies
from hpcsched.workload.readers.swf_params import header_of
from hpcsched.workload.readers.text_encoding import TextEncoding


class AleaParams(RecordPolicies):
    """Parameters of `alea`: the log, and policies for records that cannot be used as they are."""

    mapping: Literal["as_requested", "one_each", "whole_nodes"] = Field(
        "as_requested",
        description="Units of a job: the nodes that it requested, with the processors on"
        " each; its processors, one each; or its processors in units as large as a node of the"
        " largest group allows. Memory is shared out with the processors.",
    )
    properties: dict[str, Annotated[tuple[str, ...], Listed]] = Field(
        default_factory=dict,
        description="Node groups by property of requests. Known without it: cl_GROUP, nodecpusN,"
        " and host names such as GROUP7.",
    )
    unknown_property: Literal["ignore", "skip", "error"] = Field(
        "ignore",
        description="Policy for a request for a property that is not known; ignoring it is"
        " counted as a clipping.",
    )
    fractional_processors: Literal["down", "skip", "error"] = Field(
        "down", description="Policy for a request such as ppn=1.5; rounding down is counted."
    )
    unlike_chunks: Literal["skip", "error"] = Field(
        "skip", description="Policy for a request for unlike nodes, such as 1:ppn=1+3:ppn=2."
    )
    unlike_processors: Literal["request", "skip", "error"] = Field(
        "error",
        description="Policy for a record with a number of processors other than that of its"
        " request: use the request, or not.",
    )
    missing_memory: Literal["zero", "skip", "error"] = Field(
        "error", description="Policy for requested memory that is not given; `zero` reads it as 0."
    )


def review_alea(params: AleaParams, system: System) -> Iterator[Caution]:
    """Yield a caution if the header tells another machine than the system."""
    comments = header_of(Path(params.path), TextEncoding(params.encoding))
    yield from other_machine(header_machine(comments), system, {"core": 1})
