"""The trace source `alea`: requests, policies, accounts and files."""

import gzip
import tempfile
import tracemalloc
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from hpcsched.errors import Finding, InputError, Place
from hpcsched.system.system import NodeGroup, Request, System
from hpcsched.workload.job import Job, TracedJob
from hpcsched.workload.readers import swf
from hpcsched.workload.readers.alea import (
    AleaParams,
    AleaSource,
    node_properties,
    nodes_with,
    parse_node_request,
)
from hpcsched.workload.readers.policies import UnusableError
from tests.strategies import tries
from tests.workload.readers.alea_files import GIB, read, record, source_of
from tests.workload.readers.swf_files import write

START = 1_357_000_000
EVERY = {0, 1, 2, 3, 4}
LENIENT = {
    "malformed": "skip",
    "unsorted": "skip",
    "missing_requested_time": "skip",
    "missing_memory": "skip",
}


def only(jobs: Sequence[TracedJob]) -> Job:
    """Return the one job, as submitted."""
    (traced,) = jobs
    return traced.job


def numbers_of(jobs: Sequence[TracedJob]) -> list[int]:
    """Return the job numbers."""
    return [traced.job.job_id for traced in jobs]


def asked(folder: Path, ask: str, **more: Any) -> tuple[AleaSource, Job]:
    """Return a source that has read one record, and its job."""
    source, jobs = read(folder, record(1, ask=ask), **more)
    return source, only(jobs)


def error_of(folder: Path, *lines: str, **params: Any) -> Finding:
    """Return the one finding of the error that reading a log ends with; its file is the log."""
    path = write(folder, lines)
    with pytest.raises(InputError) as caught:
        list(source_of(path, **params).jobs())
    (finding,) = caught.value.findings
    assert finding.place is not None
    assert finding.place.file == str(path)
    return finding


def test_a_record(tmp_path: Path) -> None:
    """A record becomes a job; submit times are Unix times, -1 stands for what is not given."""
    line = f"7 {START} 5 60 2 -1 -1 16 100 {3 * GIB} 1 12 -1 14 9 16 -1 -1 {{7,8}} q_2w 2:ppn=8"
    source, jobs = read(tmp_path, line)
    job = only(jobs)
    assert jobs[0].run_time == 60
    assert job[:4] == (7, START, Request(2, (8, 3 * GIB)), 100)
    assert (job.user, job.group, job.application, job.queue, job.partition) == (12, None, 14, 1, 16)
    assert job.name is None
    assert source.uniform_request is None


# The request; units, cores and GiB of memory of each, the nodes (None: any), exclusive or not.
REQUESTS: dict[str, tuple[int, int, int, set[int] | None, bool]] = {
    "2:ppn=8": (2, 8, 1, None, False),
    "1": (1, 1, 1, None, False),
    "2": (2, 1, 1, None, False),
    "3:brno": (3, 1, 1, None, False),
    "1:ppn=12:cl_a#excl": (1, 12, 1, {0, 1, 2}, True),
    "1:ppn=12:cl_a:excl": (1, 12, 1, {0, 1, 2}, True),
    "1:excl:ppn=12": (1, 12, 1, None, True),
    "2:ppn=2#excl": (2, 2, 1, None, True),
    "excl": (1, 1, 1, None, True),
    "1:^cl_a": (1, 1, 1, {3, 4}, False),
    "1:^cl_a:^b2": (1, 1, 1, {3}, False),
    "1:cl_a:cl_a:cl_a": (1, 1, 1, {0, 1, 2}, False),
    "1:nodecpus12": (1, 1, 1, {0, 1, 2}, False),
    "1:nodecpus16": (1, 1, 1, {3, 4}, False),
    "1:^nodecpus16": (1, 1, 1, {0, 1, 2}, False),
    "1:ppn=2:a3.site.cz": (1, 2, 1, {2}, False),
    "1:host=a3": (1, 1, 1, {2}, False),
    "1:host=a3.site.cz": (1, 1, 1, {2}, False),
    "1:^a3.site": (1, 1, 1, {0, 1, 3, 4}, False),
    "a3.site.cz": (1, 1, 1, {2}, False),
    "b2:ppn=4": (1, 4, 1, {4}, False),
    "b1.site.cz:brno": (1, 1, 1, {3}, False),
    "cl_b": (1, 1, 1, {3, 4}, False),
    "^cl_b": (1, 1, 1, {0, 1, 2}, False),
    "1:ppn=2:mem=3gb": (1, 2, 3, None, False),
    "1:mem=3072mb:ppn=2": (1, 2, 3, None, False),
    "2:ppn=1:mem=3145728kb": (2, 1, 3, None, False),
    "2:ppn=1:mem=3221225472": (2, 1, 3, None, False),
    "2:ppn=1:mem=3221225472b": (2, 1, 3, None, False),
    "2:ppn=1:MEM_IS_NO_KEY": (2, 1, 1, None, False),
    "1:mem=3GB": (1, 1, 3, None, False),
    "1:ppn=2+1:ppn=2": (2, 2, 1, None, False),
    "1:ppn=2+3:ppn=2+1:ppn=2": (5, 2, 1, None, False),
    "1+2": (3, 1, 1, None, False),
    "1+2:ppn=1": (3, 1, 1, None, False),
    "1:ppn=2:cl_a+1:ppn=2:cl_a#excl": (2, 2, 1, {0, 1, 2}, True),
    "1:cl_a:brno+1:brno:cl_a": (2, 1, 1, {0, 1, 2}, False),
    "2:brno:x86": (2, 1, 1, {3, 4}, False),
}


@pytest.mark.parametrize("ask", REQUESTS)
def test_requests(ask: str, tmp_path: Path) -> None:
    """A request says how many nodes, what on each, which ones, and whether for this job only."""
    units, cores, gibs, nodes, exclusive = REQUESTS[ask]
    _, job = asked(tmp_path, ask, properties={"brno": ["a", "b"], "x86": ["b"]})
    assert (job.units, job.unit_request) == (units, (cores, gibs * GIB))
    assert job.allowed_nodes == (None if nodes is None else frozenset(nodes))
    assert job.exclusive == exclusive
    assert job.node_groups is None


NO_REQUESTS = [
    "1:ppn=", "1:ppn=0", "0:ppn=1", "0", "ppn=x", "#foo", "1:ppn=1#foo", "1:ppn=1#", "#excl",
    "1:ppn=-1", "-1:ppn=1", "1:ppn=1_0", "1_0:ppn=1", "1:ppn=1:", "1::ppn=1", ":ppn=1", "1+", "+1",
    "1:ppn=1++1:ppn=1", "1:mem=", "1:mem=3xb", "1:mem=-3gb", "1:host=", "1:^", "^",
    "1:walltime=3", "1:^ppn=2", "1:=3", "1:ppn=0.5", "1:ppn=1.", "1:ppn=.5", "1:ppn=1e3",
    "1:ppn=inf", "1:ppn=99999999999", "99999999999:ppn=1", "1:mem=999999999999999tb", "٣:ppn=1",
    "1:ppn=٣", "1:mem=9999999999999999999b", "1:excl=1", "{1}=2", "-1", "1.5:ppn=1", "1x", "=",
]  # fmt: skip


@pytest.mark.parametrize("ask", NO_REQUESTS)
def test_what_is_no_request(ask: str, tmp_path: Path) -> None:
    """A text that is no request is an error that names the field, or skipped as malformed."""
    lines = record(1), record(2, ask=ask)
    finding = error_of(tmp_path, *lines)
    assert (finding.rule, finding.place and finding.place.line) == ("malformed", 2)
    assert "field 21: expected " in finding.message
    source, jobs = read(tmp_path, *lines, malformed="skip")
    assert numbers_of(jobs) == [1]
    assert source.account.skipped == {"malformed": 1}


@tries(300)
@given(
    ask=st.text("0123456789:=+#^.ab", max_size=12)
    | st.lists(
        st.sampled_from(
            ["1", "2", ":", "ppn=", "mem=", "gb", "^", "#excl", "+", "excl", "cl_a", "host=", "٣"]
        ),
        max_size=7,
    ).map("".join)
)
def test_any_text_is_a_request_or_a_value_error(ask: str) -> None:
    """Whatever stands there, it is parsed to something sensible or refused with ValueError."""
    try:
        found = parse_node_request(ask)
    except (ValueError, UnusableError) as error:
        assert str(error)
    else:
        assert found.nodes >= 1
        assert found.processors >= 1
        assert found.memory is None or found.memory >= 0
        assert all(found.wanted)
        assert all(found.unwanted)


def test_memory_is_that_of_a_node(tmp_path: Path) -> None:
    """Field 10 is bytes on each node, however many nodes and processors; `mem=` comes before it."""
    lines = record(1, ask="2:ppn=4", memory=GIB + 1), record(2, ask="2:ppn=4:mem=1kb", memory=GIB)
    _, jobs = read(tmp_path, *lines)
    assert [traced.job.unit_request for traced in jobs] == [(4, GIB + 1), (4, 1024)]


@pytest.mark.parametrize("types", [("core", "mem", "gpu"), ("gpu", "mem", "core")])
def test_amounts_stand_in_the_order_of_the_system(types: tuple[str, ...], tmp_path: Path) -> None:
    """Other resource types of the system are not asked for."""
    system = System((NodeGroup("n", 2, dict.fromkeys(types, 10)),))
    _, job = asked(tmp_path, "1:ppn=2:mem=5", system=system)
    assert dict(zip(types, job.unit_request, strict=True)) == {"core": 2, "mem": 5, "gpu": 0}


# The request, GiB on each node, and units, cores and bytes of each unit under the two mappings.
MAPPED = [
    ("2:ppn=8", 8, (2, 8, 8 * GIB), (16, 1, GIB)),
    ("1:ppn=12", 24, (1, 12, 24 * GIB), (12, 1, 2 * GIB)),
    ("1:ppn=13", 13, (1, 13, 13 * GIB), (13, 1, GIB)),
    ("1:ppn=3:mem=100b", 1, (1, 3, 100), (3, 1, 34)),
    ("4:ppn=1.5", 1, (4, 1, GIB), (4, 1, GIB)),
]


@pytest.mark.parametrize("n", range(2))
@pytest.mark.parametrize("case", MAPPED, ids=str)
def test_mappings(n: int, case: tuple[Any, ...], tmp_path: Path) -> None:
    """The request as it is, or a unit for each processor."""
    ask, gibs, *expected = case
    line = record(1, ask=ask, memory=gibs * GIB)
    source, jobs = read(tmp_path, line, mapping=("as_requested", "one_each")[n])
    assert (only(jobs).units, *only(jobs).unit_request) == expected[n]
    assert source.uniform_request is None


@tries(150)
@given(
    nodes=st.integers(1, 4),
    ppn=st.integers(1, 16),
    memory=st.integers(1, 64 * GIB),
)
def test_no_processor_and_no_memory_is_lost(nodes: int, ppn: int, memory: int) -> None:
    """Shared out, a job asks for its processors, and for its memory and less than a byte each."""
    with tempfile.TemporaryDirectory() as folder:
        line = record(1, ask=f"{nodes}:ppn={ppn}", memory=memory)
        _, jobs = read(Path(folder), line, mapping="one_each")
    for job, _ in jobs:
        cores, bytes_each = job.unit_request
        assert job.units * cores == nodes * ppn
        assert 0 <= job.units * bytes_each - nodes * memory < nodes * ppn
        assert cores <= 16


def test_zero_run_time(tmp_path: Path) -> None:
    """A job that ran for 0 seconds is skipped, or kept."""
    lines = record(1, run=0), record(2)
    source, jobs = read(tmp_path, *lines)
    assert numbers_of(jobs) == [2]
    assert source.account.skipped == {"zero_run_time": 1}
    source, jobs = read(tmp_path, *lines, zero_run_time="keep")
    assert [traced.run_time for traced in jobs] == [0, 60]


def test_over_requested_time(tmp_path: Path) -> None:
    """A run time over the requested time is cut to it and counted, or kept."""
    lines = record(1, run=100), record(2, run=101)
    source, jobs = read(tmp_path, *lines)
    assert [traced.run_time for traced in jobs] == [100, 100]
    assert source.account.clipped == {"over_requested_time": 1}
    source, jobs = read(tmp_path, *lines, over_requested_time="keep")
    assert [traced.run_time for traced in jobs] == [100, 101]
    assert not source.account.clipped


@pytest.mark.parametrize("missing", [0, -1])
def test_missing_requested_time(missing: int, tmp_path: Path) -> None:
    """A job without a requested time is an error, skipped, or takes what stands in for it."""
    lines = record(1), record(2, requested=missing, run=70)
    finding = error_of(tmp_path, *lines)
    assert (finding.rule, finding.place and finding.place.line) == ("missing-requested-time", 2)
    for policy, expected in (("skip", [100]), ("run_time", [100, 70]), ("2h", [100, 7200])):
        _, jobs = read(tmp_path, *lines, missing_requested_time=policy)
        assert [traced.job.requested_time for traced in jobs] == expected


# A record that a policy decides on, with what makes the job usable where the policy says so.
POLICIES: dict[str, tuple[str, str | None]] = {
    "missing_run_time": (record(2, run=-1), None),
    "unlike_chunks": (record(2, ask="1:ppn=1+3:ppn=2"), None),
    "missing_memory": (record(2, memory=-1), "zero"),
    "unknown_property": (record(2, ask="1:infiniband"), "ignore"),
    "larger_than_system": (record(2, ask="6:ppn=12"), None),
}


@pytest.mark.parametrize("policy", POLICIES)
def test_policies(policy: str, tmp_path: Path) -> None:
    """Each policy can skip, which is counted under its name, and call an error; some can help."""
    line, usable = POLICIES[policy]
    lines = record(1), line, record(3)
    source, jobs = read(tmp_path, *lines, **{policy: "skip"})
    assert numbers_of(jobs) == [1, 3]
    assert source.account.skipped == {policy: 1}
    assert not source.account.clipped
    finding = error_of(tmp_path, *lines, **{policy: "error"})
    assert (finding.rule, finding.place and finding.place.line) == (policy.replace("_", "-"), 2)
    assert f"the policy {policy!r}" in finding.message
    if usable is not None:
        source, jobs = read(tmp_path, *lines, **{policy: usable})
        assert numbers_of(jobs) == [1, 2, 3]
        assert not source.account.skipped
        counted = policy == "unknown_property"
        assert source.account.clipped == ({policy: 1} if counted else {})


def test_a_part_of_a_processor(tmp_path: Path) -> None:
    """Rounding down keeps whole processors; `ppn=2.0` has no part to cut off."""
    source, jobs = read(tmp_path, record(1, ask="2:ppn=3.9"), record(2, ask="2:ppn=2.0"))
    assert [traced.job.unit_request[0] for traced in jobs] == [3, 2]
    assert source.account.clipped == {"fractional_processors": 1}


def test_processors_unlike_the_request(tmp_path: Path) -> None:
    """The request counts; a field 8 that says otherwise is counted."""
    lines = [record(n, ask="2:ppn=4", processors=processors) for n, processors in ((1, -1), (2, 8))]
    source, jobs = read(tmp_path, *lines, record(3, ask="2:ppn=4", processors=9))
    assert [(traced.job.units, traced.job.unit_request[0]) for traced in jobs] == [(2, 4)] * 3
    assert source.account.clipped == {"unlike_processors": 1}


@pytest.mark.parametrize("ask", ["1:ppn=1+3:ppn=2", "1:a3+1:a2", "1:excl+1", "1:mem=3gb+1:mem=2gb"])
def test_unlike_chunks(ask: str, tmp_path: Path) -> None:
    """Chunks that differ in more than their number of nodes are no units of one job."""
    source, jobs = read(tmp_path, record(1, ask=ask))
    assert jobs == []
    assert source.account.skipped == {"unlike_chunks": 1}


@pytest.mark.parametrize("memory", [0, -1])
def test_missing_memory(memory: int, tmp_path: Path) -> None:
    """Without memory a job asks for none, or for what its request says, under every mapping."""
    for mapping in ("as_requested", "one_each"):
        lines = record(1, memory=memory, ask="1:ppn=2"), record(2, memory=memory, ask="1:mem=4b")
        _, jobs = read(tmp_path, *lines, missing_memory="zero", mapping=mapping)
        assert [traced.job.unit_request[1] for traced in jobs] == [0, 4]
    source, jobs = read(tmp_path, *lines, missing_memory="skip")
    assert numbers_of(jobs) == [2]
    assert source.account.skipped == {"missing_memory": 1}


UNSORTED = (
    record(1, START + 10),
    record(2, START + 5),
    record(3, START + 10),
    record(4, START + 7),
)


def test_unsorted(tmp_path: Path) -> None:
    """A step back in time is an error that tells both times, skipped, or sorted."""
    finding = error_of(tmp_path, *UNSORTED)
    assert (finding.rule, finding.place and finding.place.line) == ("unsorted", 2)
    assert f"at least {START + 10}" in finding.message
    source, jobs = read(tmp_path, *UNSORTED, unsorted="skip")
    assert numbers_of(jobs) == [1, 3]
    assert source.account.skipped == {"unsorted": 2}
    source, jobs = read(tmp_path, *UNSORTED, unsorted="sort")
    assert numbers_of(jobs) == [2, 4, 1, 3]


LINE = record(2)
MALFORMED = {
    "too few fields": LINE.rsplit(" ", 1)[0],
    "too many fields": f"{LINE} 9",
    "the standard's 18 fields": " ".join(LINE.split()[:18]),
    "a word": record(2, run="abc"),
    "a number with an underscore": record(2, run="6_0"),
    "a memory with an underscore": record(2, memory="1_000"),
    "a number beyond 64 bits": record(2, memory=10**25),
    "a number beyond 2^53": record(2, START, run=2**53 + 1),
    "more digits than Python reads": record(2, run="9" * 5000),
    "no job number": record(-1),
    "no submit time": record(2, submit=-1),
    "a job number seen before": record(1),
    "no braces": record(2, nodes="7,7"),
    "one brace": record(2, nodes="{7,7"),
    "the other brace": record(2, nodes="7,7}"),
    "letters beyond ASCII": record(2, run="шесть"),
    "digits beyond ASCII": record(2, run="٣"),
}


@pytest.mark.parametrize("line", MALFORMED.values(), ids=MALFORMED)
def test_malformed(line: str, tmp_path: Path) -> None:
    """A line that is no record is an error, or skipped."""
    lines = record(1), line, record(3)
    finding = error_of(tmp_path, *lines)
    assert (finding.rule, finding.place and finding.place.line) == ("malformed", 2)
    source, jobs = read(tmp_path, *lines, malformed="skip")
    assert numbers_of(jobs) == [1, 3]
    assert source.account.skipped == {"malformed": 1}


def test_fields_that_are_not_used(tmp_path: Path) -> None:
    """Fields that mean nothing here need not be numbers; no nodes between the braces is fine."""
    line = f"1 {START} x 60 y z 1_0 -1 100 {GIB} s -1 -1 -1 99999999999999999999 -1 p q {{}} q 1"
    _, jobs = read(tmp_path, line)
    assert only(jobs).queue == 1


ALL_WRONG = {"run": -1, "requested": -1, "ask": "1:ppn=1+9:ppn=2.5", "processors": 3, "memory": -1}
REASONS = {
    "malformed": record(1, 5, **ALL_WRONG),
    "unsorted": record(2, 5, **ALL_WRONG),
    "missing_run_time": record(2, **ALL_WRONG),
    "zero_run_time": record(2, **{**ALL_WRONG, "run": 0}),
    "missing_requested_time": record(2, **{**ALL_WRONG, "run": 1}),
    "unlike_chunks": record(2, ask="1:x+9:ppn=2.5", memory=-1),
    "missing_memory": record(2, ask="9:x:ppn=12", memory=-1),
    "unknown_property": record(2, ask="9:x:ppn=12"),
    "larger_than_system": record(2, ask="9:ppn=12"),
}


@pytest.mark.parametrize("reason", REASONS)
def test_the_first_reason_counts(reason: str, tmp_path: Path) -> None:
    """Of several reasons to skip a record the first counts, in the order that the source states."""
    source, jobs = read(
        tmp_path,
        record(1), REASONS[reason],
        **LENIENT, unknown_property="skip",
    )  # fmt: skip
    assert numbers_of(jobs) == [1]
    assert source.account.skipped == {reason: 1}
    assert not source.account.clipped


def test_the_reasons_are_those_that_the_source_states() -> None:
    """The docstring lists the reasons in their order."""
    text = (AleaSource.__doc__ or "").split()
    stated = [word.strip("`,.") for word in text if word.strip("`,.") in REASONS]
    assert stated == list(REASONS)


def test_what_is_skipped_is_not_clipped(tmp_path: Path) -> None:
    """Clipped records are among those submitted."""
    source, _ = read(tmp_path, record(1, run=200, ask="9:ppn=12.5:infiniband"))
    assert source.account.skipped == {"larger_than_system": 1}
    assert not source.account.clipped


def test_what_fits_is_counted_on_the_nodes_in_question(tmp_path: Path) -> None:
    """A job bound to nodes must fit on these; exclusive or not makes no difference here."""
    fitting = "3:ppn=12:cl_a", "2:ppn=16", "5:ppn=12", "2:ppn=16:cl_b#excl", "2:ppn=6:host=a1"
    too_large = "4:ppn=12:cl_a", "3:ppn=16", "6:ppn=12", "3:ppn=16:cl_b#excl", "3:ppn=6:host=a1"
    lines = [record(n, ask=ask) for n, ask in enumerate((*fitting, *too_large))]
    source, jobs = read(tmp_path, *lines)
    assert numbers_of(jobs) == [0, 1, 2, 3, 4]
    assert source.account.skipped == {"larger_than_system": 5}


def test_no_node_at_all(tmp_path: Path) -> None:
    """A request that rules out every node cannot be met, and is no error of the system's units."""
    asks = "1:cl_a:cl_b", "1:^cl_a:^cl_b", "1:a1:a2", "1:nodecpus12:cl_b", "1:nothing", "1:a1:^a1"
    lines = [record(n, ask=ask) for n, ask in enumerate(asks)]
    source, jobs = read(tmp_path, *lines, properties={"nothing": []})
    assert jobs == []
    assert source.account.skipped == {"larger_than_system": len(asks)}


def test_properties(tmp_path: Path) -> None:
    """Listed properties hold for their groups, and come before what a name means by itself."""
    properties = {"fast": ["b"], "brno": ["a", "b"], "cl_a": ["b"], "a1": ["a"], "x=y": ["a"]}
    expected = {
        "1:fast": {3, 4}, "1:^fast": {0, 1, 2}, "1:brno": None, "1:cl_a": {3, 4}, "1:a1": {0, 1, 2},
        "1:brno:fast": {3, 4}, "1:fast:b1": {3},
    }  # fmt: skip
    for ask, nodes in expected.items():
        source, job = asked(tmp_path, ask, properties=properties)
        assert job.allowed_nodes == (None if nodes is None else frozenset(nodes))
        assert not source.account.clipped


UNKNOWN = [
    "infiniband", "cl_c", "cl_", "nodecpus13", "nodecpus", "nodecpus12x", "a0", "a4", "a01", "a",
    "a3x", "a3x.site", "c1", "a99999999999", "A3", "cl_A", "a-1",
]  # fmt: skip


@pytest.mark.parametrize("name", UNKNOWN)
@pytest.mark.parametrize("sign", ["", "^"])
def test_unknown_properties(name: str, sign: str, tmp_path: Path) -> None:
    """What is not known is ignored and counted once a job; the rest of the request still holds."""
    source, job = asked(tmp_path, f"1:ppn=2:{sign}{name}:^also_unknown:cl_b")
    assert (job.allowed_nodes, job.unit_request[0]) == (frozenset({3, 4}), 2)
    assert source.account.clipped == {"unknown_property": 1}
    line = record(1, ask=f"1:{sign}{name}:cl_b")
    finding = error_of(tmp_path, line, unknown_property="error")
    assert finding.message.startswith(f"no node group is said to have {name};")


def test_groups_whose_names_begin_alike() -> None:
    """A host name is found where one group's name begins another's, or has a dot in it."""
    groups = [("n", 2), ("n1", 9), ("gpu.x", 3), ("gpu", 1), ("a-2", 2)]
    system = System(tuple(NodeGroup(name, count, {"core": 1}) for name, count in groups))
    properties = node_properties(system, {})
    expected = {"n2": 1, "n15": 6, "n15.site": 6, "n19.n2": 10, "gpu.x3": 13, "gpu.x3.site": 13}
    expected |= {"gpu1.site": 14, "a-22": 16}
    for name, node in expected.items():
        assert nodes_with(properties, name) == {node}
    for name in ("n3", "n10", "gpu.x4", "gpu.y1", "gpu2", "a-2", "n", "nx15"):
        assert nodes_with(properties, name) is None


def test_equal_cores_in_several_groups() -> None:
    """`nodecpusN` stands for all nodes with so many cores, and for none without any."""
    types: list[dict[str, int]] = [{"core": 8}, {"mem": 8}, {"core": 8, "mem": 1}, {"core": 80}]
    system = System(tuple(NodeGroup(f"g{n}", 1, offered) for n, offered in enumerate(types)))
    properties = node_properties(system, {})
    assert properties.get("nodecpus8") == {0, 2}
    assert properties.get("nodecpus80") == {3}
    assert properties.get("nodecpus0") is None


def test_nodes_with_so_many_cores_are_counted_as_declared() -> None:
    """The number of cores is what is declared, whatever it is counted in."""
    system = System((NodeGroup("n", 2, {"core": 80}), NodeGroup("m", 1, {"core": 40})), {"core": 2})
    assert node_properties(system, {})["nodecpus40"] == {2}


def test_lost_to_units(tmp_path: Path) -> None:
    """A request that only counting in units keeps off its nodes is an error at its line."""
    system = System(
        (NodeGroup("small", 2, {"core": 4, "mem": 7}), NodeGroup("big", 1, {"core": 4, "mem": 90})),
        {"mem": 4},
    )
    fits = record(1, memory=7, ask="1")
    for ask in ("1:cl_small", "2:ppn=2:cl_small", "1:small2", "1:^cl_big#excl"):
        line = record(2, memory=7, ask=ask)
        finding = error_of(tmp_path, fits, line, system=system)
        assert (finding.rule, finding.place and finding.place.line) == ("lost-to-units", 2)
    more = record(3, memory=8, ask="1:cl_small"), record(4, memory=91), record(5, ask="1:big1")
    source, jobs = read(tmp_path, fits, *more, system=system)
    assert numbers_of(jobs) == [1]
    assert source.account.skipped == {"larger_than_system": 3}


def test_queues_are_numbered_as_they_appear(tmp_path: Path) -> None:
    """Jobs know their queue by number; the comments say which name it has."""
    names = ["q_1d", "default", "q_1d", "q_2w", "default", "zewura@ústí"]
    lines = ["; Computer: CERIT", *(record(n, queue=name) for n, name in enumerate(names))]
    source, jobs = read(tmp_path, *lines)
    assert [traced.job.queue for traced in jobs] == [1, 2, 1, 3, 2, 4]
    headers = ["Queue: 1 q_1d", "Queue: 2 default", "Queue: 3 q_2w", "Queue: 4 zewura@ústí"]
    assert source.comments == ["Computer: CERIT", *headers]
    assert list(source.jobs()) == jobs
    assert source.comments == ["Computer: CERIT", *headers]


def test_comments_and_blank_lines(tmp_path: Path) -> None:
    """Comments before the first record are kept; an error names the line of the file."""
    lines = ["; Version: 2", "", "; Note: x", record(1), "; later", "   ", record(2), "nonsense"]
    source, jobs = read(tmp_path, *lines, malformed="skip")
    assert numbers_of(jobs) == [1, 2]
    assert source.comments == ["Version: 2", "Note: x", "Queue: 1 q_1d"]
    assert error_of(tmp_path, *lines).place == Place(str(tmp_path / "log.swf"), 8)


def test_windows_line_ends_and_tabs(tmp_path: Path) -> None:
    """Line ends of other systems and any white space between fields are fine."""
    path = tmp_path / "log.swf"
    path.write_bytes(f"; Note: x\r\n{record(1).replace(' ', chr(9))}\r\n{record(2)}".encode())
    assert numbers_of(list(source_of(path).jobs())) == [1, 2]


def test_a_queue_in_latin_1(tmp_path: Path) -> None:
    """Bytes that are not UTF-8 are escaped in its name."""
    path = tmp_path / "log.swf"
    path.write_bytes(record(1, queue="caf\xe9").encode("latin-1"))
    source = source_of(path)
    assert len(list(source.jobs())) == 1
    assert "Queue: 1 caf\\xe9" in source.comments


def test_gzip(tmp_path: Path) -> None:
    """A packed log reads as the plain one does."""
    lines = ["; Note: x", record(1), record(2, queue="other")]
    plain = source_of(write(tmp_path, lines))
    packed = source_of(write(tmp_path, lines, packed=True))
    assert list(packed.jobs()) == list(plain.jobs())
    assert packed.comments == plain.comments
    assert packed.files == [tmp_path / "log.swf.gz"]


def test_first_jobs(tmp_path: Path) -> None:
    """`jobs: 2` stops after two jobs, and reads no record beyond them."""
    source, jobs = read(
        tmp_path, record(1, run=0), record(2), record(3), "nonsense", record(4), jobs=2
    )
    assert numbers_of(jobs) == [2, 3]
    assert (source.account.read, source.account.skipped) == (3, {"zero_run_time": 1})


def test_jobs_can_be_read_again(tmp_path: Path) -> None:
    """Reading again starts over, with a fresh account, also with every job number seen."""
    source, first = read(tmp_path, record(1, ask="1:x:ppn=1.5"), record(2, run=0), record(3))
    account = source.account
    assert list(source.jobs()) == first
    assert source.account == account
    assert source.account is not account


@pytest.mark.parametrize("packed", [False, True])
@mock.patch.object(swf, "BLOCK", 2**13)
def test_reading_is_lazy(packed: bool, tmp_path: Path) -> None:
    """The first jobs of a large log are there before the rest is read, or found to be damaged."""
    lines = [record(n, START + n, memory=1 + n * 7919 % GIB) for n in range(5_000)]
    path = write(tmp_path, [*lines, "nonsense"], packed)
    if packed:
        assert gzip.decompress(path.read_bytes()).endswith(b"nonsense\n")
    source = source_of(path)
    jobs = source.jobs()
    assert [next(jobs).job.job_id for _ in range(3)] == [0, 1, 2]
    assert source.account.read == 3
    assert source.fraction_read < 0.5
    with pytest.raises(InputError, match="5001: error"):
        list(jobs)
    assert source.account.submitted == 5_000


@mock.patch.object(swf, "BLOCK", 2**13)
def peak_of_streaming(folder: Path, count: int, packed: bool) -> int:
    """Return the most memory in use while a log of so many records is streamed, in bytes."""
    asks = "2:ppn=8", "1:cl_a", "1:^b1.site.cz", "1:ppn=1.5:infiniband"
    lines = (record(n, START + n, ask=asks[n % 4], memory=GIB + n % 9) for n in range(count))
    source = source_of(write(folder, lines, packed))
    tracemalloc.start()
    try:
        assert sum(1 for _ in source.jobs()) == count
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("packed", [False, True])
def test_memory_does_not_grow_with_the_trace(packed: bool, tmp_path: Path) -> None:
    """Eight times as many records take no more memory to stream."""
    small, large = (peak_of_streaming(tmp_path, count, packed) for count in (500, 4_000))
    assert large < 1.3 * small + 50_000


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("lines", [(), ("; Note: x",)])
def test_no_records(lines: tuple[str, ...], packed: bool, tmp_path: Path) -> None:
    """A file without records gives no jobs and an account of nothing."""
    source = source_of(write(tmp_path, lines, packed))
    assert list(source.jobs()) == []
    assert (source.account.read, source.account.submitted) == (0, 0)
    assert len(source.comments) == len(lines)


FIELD = st.one_of(
    st.integers(-1, 12).map(str),
    st.sampled_from(["x", "1.5", "-", "99999999999999999999", "1_0", ";", "\x00", "é", "{}", "+1"]),
)
ASK = st.sampled_from(["1:ppn=2", "2", "a1", "cl_b#excl", "1:ppn=1.5", "1+2:ppn=2", "1:^x", "0"])
RECORD = st.builds(
    lambda numbers, nodes, ask: " ".join([*numbers, nodes, "q", ask]),
    st.lists(st.integers(-1, 9).map(str), min_size=18, max_size=18),
    st.sampled_from(["{}", "{1,1}", "1"]),
    ASK,
)
ANY_POLICIES = st.fixed_dictionaries(
    {
        "zero_run_time": st.sampled_from(["skip", "keep"]),
        "over_requested_time": st.sampled_from(["clip", "keep"]),
        "missing_run_time": st.just("skip"),
        "missing_requested_time": st.sampled_from(["run_time", "skip", 5]),
        "larger_than_system": st.just("skip"),
        "unsorted": st.sampled_from(["skip", "sort"]),
        "malformed": st.just("skip"),
        "fractional_seconds": st.sampled_from(["skip", "outward"]),
        "mapping": st.sampled_from(["as_requested", "one_each"]),
        "unknown_property": st.sampled_from(["ignore", "skip"]),
        "unlike_chunks": st.just("skip"),
        "missing_memory": st.sampled_from(["zero", "skip"]),
    }
)


@tries(100)
@given(
    lines=st.lists(RECORD | st.lists(FIELD, min_size=20, max_size=22).map(" ".join), max_size=12),
    policies=ANY_POLICIES,
)
def test_accounts_balance(lines: list[str], policies: dict[str, Any]) -> None:
    """However damaged the lines, each record counts once, and only jobs that can run come out."""
    with tempfile.TemporaryDirectory() as folder:
        source, jobs = read(Path(folder), *lines, **policies)
    records = [line for line in lines if line.strip() and not line.startswith(";")]
    assert source.account.read == len(records)
    assert set(source.account.skipped) <= set(policies)
    submit_times = [traced.job.submit_time for traced in jobs]
    assert submit_times == sorted(submit_times)
    assert len(set(numbers_of(jobs))) == len(jobs)
    for job, run_time in jobs:
        assert job.job_id >= 0
        assert 1 <= job.units <= 68
        assert job.unit_request[0] >= 1
        assert job.allowed_nodes is None or set(job.allowed_nodes) < EVERY
        assert run_time >= (policies["zero_run_time"] == "skip")


@tries(100)
@given(data=st.data())
def test_accounts_balance_after_random_damage(data: st.DataObject) -> None:
    """Bytes changed anywhere in a log cost records, but no record goes unaccounted for."""
    lines = [record(n, START + n, ask="1:ppn=2:a1#excl") for n in range(6)]
    text = bytearray("\n".join(lines).encode())
    for _ in range(data.draw(st.integers(1, 6))):
        text[data.draw(st.integers(0, len(text) - 1))] = data.draw(st.integers(0, 255))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.swf"
        path.write_bytes(bytes(text))
        try:
            source = source_of(path, **LENIENT)
            jobs = list(source.jobs())
        except InputError as error:
            assert len(error.findings) == 1
            return
    assert source.account.submitted == len(jobs)
    assert source.account.read == len(jobs) + sum(source.account.skipped.values())


@pytest.mark.parametrize(
    "params",
    [
        {"mapping": "units"},
        {"unlike_chunks": "first"},
        {"missing_memory": 0},
        {"unknown_property": "keep"},
        {"properties": {"brno": "a"}},
        {"properties": {"brno": [1]}},
        {"properties": ["brno"]},
        {"jobs": 0},
        {"unit": {"core": 1}},
    ],
)
def test_unknown_policies_are_refused(params: dict[str, Any]) -> None:
    """A policy that does not exist, or a value out of range, is refused before anything is read."""
    with pytest.raises(ValidationError):
        AleaParams(path="log.swf", **params)


def test_groups_that_do_not_match(tmp_path: Path) -> None:
    """All groups that properties name and the system lacks are told at once."""
    path = write(tmp_path, [record(1)])
    with pytest.raises(InputError) as caught:
        source_of(path, properties={"x": ["a", "m"], "y": ["k"]})
    assert [(f.rule, f.key) for f in caught.value.findings] == [
        ("unknown-node-group", "trace.properties.x"),
        ("unknown-node-group", "trace.properties.y"),
    ]
