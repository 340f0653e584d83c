"""The log of CERIT-SC (JSSPP workload archive): its account, counted anew, and an audited replay.

The counts here are made with string operations on the lines and a table of what each word of a
request means; they share nothing with the project's reader.
"""

import gzip
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from hpcsched.cli import main
from hpcsched.scenario import load_scenario
from hpcsched.system.system import NodeGroup, System
from hpcsched.workload.job import Job, TracedJob
from hpcsched.workload.readers.alea import AleaParams, AleaSource
from tests.real_traces import trace

CERIT_SC = "CERIT-SC-2013.swf.gz"
MACHINES = "CERIT-SC-2013.machines"
SCENARIO = Path(__file__).parents[2] / "scenarios" / "cerit-easy.yaml"
MIB = 2**20
UNIT = 100 * MIB
SYSTEM = System(
    (
        NodeGroup("zewura", 20, {"core": 80, "mem": 529426432 * 1024}),
        NodeGroup("zegox", 48, {"core": 12, "mem": 94035968 * 1024}),
    ),
    {"mem": UNIT},
)
BOTH = ("zewura", "zegox")
PROPERTIES = dict.fromkeys(("brno", "debian", "linux", "nfs4", "x86_64"), BOTH)

ZEWURA, ZEGOX = frozenset(range(20)), frozenset(range(20, 68))
WORDS = {
    **dict.fromkeys(PROPERTIES, ZEWURA | ZEGOX),
    "cl_zewura": ZEWURA,
    "nodecpus80": ZEWURA,
    "cl_zegox": ZEGOX,
    "nodecpus12": ZEGOX,
    **{f"zewura{n}": frozenset({n - 1}) for n in range(1, 21)},
    **{f"zegox{n}": frozenset({19 + n}) for n in range(1, 49)},
}
"""What each word that the log uses means, as numbers of nodes."""
KINDS = ((ZEWURA, 80, 529426432 // 102400), (ZEGOX, 12, 94035968 // 102400))
"""Nodes, cores and memory in whole units of 100 MiB (102,400 KiB)."""


class SelectionOptions(NamedTuple):
    """A record as it is counted here; `fate` is what the account should say of it."""

    number: int
    submit_time: int
    units: int
    request: tuple[int, int]
    nodes: frozenset[int]
    exclusive: bool
    fate: str
    over: bool
    part: bool
    unknown: bool


def counted(line: str) -> SelectionOptions:
    """Count a record by string operations."""
    fields = line.split()
    exclusive = "excl" in fields[20]
    chunks = fields[20].replace("#excl", "").replace(":excl", "").split("+")
    split = [
        chunk.split(":") if chunk[0].isdigit() else ["1", *chunk.split(":")] for chunk in chunks
    ]
    units = sum(int(words[0]) for words in split)
    ppn, part, unknown, memory = 1, False, False, int(fields[9])
    nodes = ZEWURA | ZEGOX
    for word in split[0][1:]:
        if word.startswith("ppn="):
            whole, point, _ = word[4:].partition(".")
            ppn, part = int(whole), bool(point)
        elif word.startswith("mem="):
            memory = int(word[4:].removesuffix("gb")) * 2**30
        else:
            name = word.removeprefix("^").removeprefix("host=").removesuffix(".cerit-sc.cz")
            unknown = unknown or name not in WORDS
            meant = WORDS.get(name, nodes)
            nodes = nodes - meant if word.startswith("^") else nodes & meant
    needed = -(-memory // UNIT)
    fits = sum(len(nodes & kind) * min(cores // ppn, room // needed) for kind, cores, room in KINDS)
    unlike = len({tuple(words[1:]) for words in split}) > 1
    run_time, limit = int(fields[3]), int(fields[8])
    fate = "submitted"
    if run_time < 0:
        fate = "missing_run_time"
    elif run_time == 0:
        fate = "zero_run_time"
    elif limit <= 0:
        fate = "missing_requested_time"
    elif unlike:
        fate = "unlike_chunks"
    elif units > fits:
        fate = "larger_than_system"
    return SelectionOptions(
        int(fields[0]), int(fields[1]), units, (ppn, needed), nodes, exclusive, fate,
        run_time > limit, part, unknown,
    )  # fmt: skip


@cache
def records(path: Path) -> tuple[SelectionOptions, ...]:
    """Return all records of the log as they are counted here."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return tuple(counted(line) for line in lines)


@cache
def read(path: Path) -> tuple[AleaSource, tuple[TracedJob, ...]]:
    """Return the source, read to its end, and its jobs."""
    source = AleaSource(AleaParams(path=str(path), properties=PROPERTIES), SYSTEM)
    return source, tuple(source.jobs())


def pairs() -> Iterator[tuple[SelectionOptions, TracedJob]]:
    """Yield each record that should be submitted, with the job that was made of it."""
    path = trace(CERIT_SC)
    options = [record for record in records(path) if record.fate == "submitted"]
    yield from zip(options, read(path)[1], strict=True)


def test_account() -> None:
    """Of 17,900 records 17,885 are submitted; 15 are skipped and 720 changes are counted."""
    account = read(trace(CERIT_SC))[0].account
    assert (account.read, account.submitted) == (17900, 17885)
    assert account.skipped == {"larger_than_system": 1, "missing_run_time": 2, "unlike_chunks": 12}
    assert account.clipped == {
        "fractional_processors": 20, "over_requested_time": 699, "unknown_property": 1,
    }  # fmt: skip


def test_account_by_an_independent_count() -> None:
    """Counted with string operations, the records come to the same account."""
    path = trace(CERIT_SC)
    account = read(path)[0].account
    fates = Counter(record.fate for record in records(path))
    assert fates.pop("submitted") == account.submitted
    assert fates == account.skipped
    submitted = [record for record in records(path) if record.fate == "submitted"]
    assert account.clipped == {
        "over_requested_time": sum(record.over for record in submitted),
        "fractional_processors": sum(record.part for record in submitted),
        "unknown_property": sum(record.unknown for record in submitted),
    }


def test_every_job_by_an_independent_count() -> None:
    """Number, submit time, units, request, nodes and exclusiveness of every job are the same."""
    everywhere = ZEWURA | ZEGOX
    for record, (job, _) in pairs():
        assert (job.job_id, job.submit_time) == (record.number, record.submit_time)
        assert (job.units, job.unit_request) == (record.units, record.request)
        assert job.exclusive == record.exclusive
        assert job.allowed_nodes == (None if record.nodes == everywhere else record.nodes)


def where(job: Job) -> str:
    """Say where a job may run."""
    if job.allowed_nodes is None:
        return "anywhere"
    if job.allowed_nodes in (ZEWURA, ZEGOX):
        return "zewura" if job.allowed_nodes == ZEWURA else "zegox"
    return "on one node" if len(job.allowed_nodes) == 1 else "not on some"


def test_exclusive_and_bound_jobs() -> None:
    """How many jobs keep others off their nodes, and how many may not run on every node."""
    jobs = [traced.job for _, traced in pairs()]
    assert sum(job.exclusive for job in jobs) == 231
    assert Counter(map(where, jobs)) == {
        "anywhere": 16843, "zewura": 608, "zegox": 335, "on one node": 16, "not on some": 83,
    }  # fmt: skip


def test_queues() -> None:
    """Queues are numbered as they appear; every job has one, of that name."""
    path = trace(CERIT_SC)
    source, jobs = read(path)
    names: dict[str, int] = {}
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        queues = [line.split()[19] for line in lines]
    numbers = [
        names.setdefault(queue, len(names) + 1)
        for queue, record in zip(queues, records(path), strict=True)
        if record.fate == "submitted"
    ]
    assert [traced.job.queue for traced in jobs] == numbers
    assert source.comments == [f"Queue: {number} {name}" for name, number in names.items()]


@pytest.mark.parametrize("policy", ["larger_than_system", "missing_run_time", "unlike_chunks"])
def test_errors_name_the_line(policy: str, capsys: pytest.CaptureFixture[str]) -> None:
    """With a policy that says error, the first record that is counted here ends it all."""
    path = trace(CERIT_SC)
    first = next(n for n, record in enumerate(records(path), 1) if record.fate == policy)
    assert main(["trace", "info", str(SCENARIO), "--set", f"trace.{policy}=error"]) == 1
    said = capsys.readouterr().err.splitlines()
    # Behind it, all such records are counted where there are several.
    assert said[0].startswith(f"{path}:{first}: error: ")


def test_the_scenario_s_system_and_properties() -> None:
    """The scenario that comes along reads the log as it is read here."""
    trace(CERIT_SC)
    scenario = load_scenario(SCENARIO)
    assert scenario.system.build() == SYSTEM
    params = scenario.trace.model_dump()
    assert {name: tuple(groups) for name, groups in params["properties"].items()} == PROPERTIES


def test_machines() -> None:
    """The file of machines that comes with the log has the same groups, with memory in KiB."""
    lines = trace(MACHINES).read_text(encoding="utf-8").splitlines()
    fields = [line.split() for line in lines if line.strip()]
    assert SYSTEM.groups == tuple(
        NodeGroup(name, int(count), {"core": int(cores), "mem": int(memory) * 1024})
        for _, name, count, cores, _, memory in fields
    )


@pytest.mark.slow
def test_a_replay_passes_the_audit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The first 3,000 jobs run under EASY with best fit, and `hpcsched verify` finds nothing."""
    trace(CERIT_SC)
    out = str(tmp_path / "out")
    assert main(["run", str(SCENARIO), "--set", "trace.jobs=3000", "--out", out]) == 0
    assert "3000 jobs submitted: 3000 completed" in capsys.readouterr().out
    assert main(["verify", out]) == 0
    assert capsys.readouterr().out.endswith("\nok\n")
