"""Checks of the manifest and of observers' files."""

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from hpcsched.audit.auditing import audit_directory
from hpcsched.audit.columns import AuditedRun, Declared, open_run
from hpcsched.audit.file_checks import EVENTS, files, manifest, trace_files
from hpcsched.audit.reason_checks import ReasonRow, Reasons
from hpcsched.audit.violations import Check
from hpcsched.runs.assembly import assemble_again
from hpcsched.runs.directory import RunDirectory
from hpcsched.runs.manifest import TraceFile, sha256
from hpcsched.runs.runner import run
from hpcsched.scenario import load_scenario
from hpcsched.workload.job import TracedJob
from hpcsched.workload.trace_source import TraceAnswer
from tests.audit.test_every_rule import FAILURES, JOBS, PLAIN, SITE, swf_lines
from tests.runs.hand_made import DECLARED, SYSTEM, Trace, messages, seal, write_run
from tests.runs.hand_made import JOBS as PLACED


@pytest.fixture(scope="module", name="run")
def _run(tmp_path_factory: pytest.TempPathFactory) -> RunDirectory:
    """Return a run that nothing changes."""
    return write_run(tmp_path_factory.mktemp("manifest") / "run")


def with_manifest(run: RunDirectory, **changed: Any) -> RunDirectory:
    """Return the run with some values of its manifest changed."""
    return RunDirectory(run.path, run.manifest.model_copy(update=changed))


def audited(
    run: RunDirectory, declared: Declared = DECLARED, source: Trace | None = None
) -> AuditedRun:
    """Return a run and its trace as the rules see them."""
    source = Trace(run.path.parent, [p.traced for p in PLACED]) if source is None else source
    return open_run(run, SYSTEM, source, declared)


def checked(run: RunDirectory, declared: Declared = DECLARED) -> Check:
    """Return the check of a manifest."""
    check = manifest(audited(run, declared))
    assert check is not None
    return check


def test_an_honest_manifest(run: RunDirectory) -> None:
    """Each of 21 things is looked at.

    Scenario, seed, comments and plugins; which versions, 5 of them, one of them once more among the
    plugins, one of them in both Parquet files; why it is not reproducible, whether it is, platform,
    processors; two instants, and jobs that were left, and an error.
    """
    check = checked(run)
    assert (check.violations, check.looked_at) == ([], 4 + 1 + 5 + 1 + 2 + 4 + 2 + 1 + 1)


def test_a_clock_that_was_set_back(run: RunDirectory) -> None:
    """That is no fault of the run, and is noted."""
    times = {"started": "2026-01-02T03:04:05+00:00", "finished": "2026-01-02T02:04:05+00:00"}
    check = checked(with_manifest(run, **times))
    assert check.violations == []
    assert check.notes == [
        "it finished at 2026-01-02 02:04:05+00:00, before it started at 2026-01-02 03:04:05+00:00:"
        " its machine's clock was set back, or one of the two was changed"
    ]


INSTANT = "an instant in UTC: expected True, found False"


@pytest.mark.parametrize(
    ("changed", "found"),
    [
        ({"scenario": "x"}, ["scenario: expected by-hand, found x"]),
        ({"seed": 1}, ["seed: expected 0, found 1"]),
        ({"trace_comments": []}, ["trace_comments: expected ['made by hand'], found []"]),
        ({"platform": ""}, ["a platform: expected True, found False"]),
        ({"cpu_count": None}, []),
        ({"cpu_count": 1}, []),
        ({"cpu_count": 0}, ["at least one processor: expected True, found False"]),
        ({"reproducible": False}, ["reproducible: expected True, found False"]),
        (
            {"reproducible": False, "not_reproducible_because": ["x"]},
            ["not_reproducible_because: expected [], found ['x']"],
        ),
        # It may begin and end within the same second.
        ({"started": "2026-01-02T03:04:05+00:00", "finished": "2026-01-02T03:04:05+00:00"}, []),
        ({"started": "yesterday"}, [f"started: 'yesterday': {INSTANT}"]),
        ({"finished": None}, [f"finished: None: {INSTANT}"]),
        ({"finished": "2026-01-02T03:04:05"}, [f"finished: '2026-01-02T03:04:05': {INSTANT}"]),
        (
            {"started": "2026-01-02T03:04:05+01:00"},
            [f"started: '2026-01-02T03:04:05+01:00': {INSTANT}"],
        ),
    ],
)
def test_manifest(run: RunDirectory, changed: dict[str, Any], found: list[str]) -> None:
    """Each value is that of the scenario and the trace, or can be one."""
    check = checked(with_manifest(run, **changed))
    assert check.violations == found


def test_plugins_without_those_that_are_built_in(run: RunDirectory) -> None:
    """A scenario may use another distribution's plugins alone."""
    declared = DECLARED._replace(distributions=frozenset({"other"}))
    other = with_manifest(run, plugins={"other": "1.0"})
    assert checked(other, declared).violations == []


def test_versions(run: RunDirectory) -> None:
    """What is installed of pyarrow may be a later build of the version that a file names."""
    versions = run.manifest.versions
    later = with_manifest(run, versions={**versions, "pyarrow": f"{versions['pyarrow']}.post1"})
    assert checked(later).violations == []
    other = with_manifest(run, versions={**versions, "pyarrow": "1.2.3"})
    assert checked(other).violations == [
        f"pyarrow that wrote {name}: expected 1.2.3, found {versions['pyarrow']}"
        for name in ("jobs.parquet", "rounds.parquet")
    ]


def test_a_trace_that_changed(run: RunDirectory) -> None:
    """It is a reason of its own not to be reproducible, and told by another check."""
    [file] = run.manifest.trace_files
    changed = with_manifest(
        run,
        trace_files=[file.model_copy(update={"changed": True})],
        reproducible=False,
        not_reproducible_because=["x"],
    )
    assert checked(changed).violations == []


def test_a_run_that_was_broken_off(tmp_path: Path) -> None:
    """It has not read the trace to its end, and says which jobs were left."""
    run = write_run(tmp_path / "run", status="interrupted", until=55)
    source = Trace(tmp_path, [])
    source.comments = ("more",)
    check = manifest(audited(run, source=source))
    assert check is not None
    assert check.violations == []
    left = "['waiting', 'running', 'not_yet_submitted']"
    check = checked(with_manifest(run, status="complete"))
    assert check.violations == [f"jobs left in a run that is complete: expected [], found {left}"]


def test_files(run: RunDirectory) -> None:
    """Seven files are looked at: two are gone, two of unknown content, one of another content."""
    (run.path / "notes.txt").write_text("mine")
    hashes = run.manifest.files
    kept = {name: hashes[name] for name in ("scenario.yaml", "summary.json")}
    recorded = {**kept, "gone": "0", "lost": "0", "jobs.parquet": "0"}
    check = files(audited(with_manifest(run, files=recorded)))
    assert check is not None
    assert check.looked_at == 7
    assert check.violations == [
        "gone is in the directory: expected True, found False",
        f"SHA-256 of jobs.parquet: expected 0, found {hashes['jobs.parquet']}",
        "lost is in the directory: expected True, found False",
        "rounds.parquet has its SHA-256 in the manifest: expected True, found False",
        "timing.json has its SHA-256 in the manifest: expected True, found False",
    ]
    assert check.notes == ["notes.txt was put there after the run"]


def of(run: RunDirectory, source: Trace) -> tuple[list[str], int]:
    """Return what is found of the files of a trace, and how much was looked at."""
    check = trace_files(audited(run, source=source))
    assert check is not None
    return check.violations, check.looked_at


def test_trace_files(tmp_path: Path) -> None:
    """Of a file its hash is told first, and its size where the hash is right."""
    run = write_run(tmp_path / "run")
    source = Trace(tmp_path, [])
    [path] = source.files
    [file] = run.manifest.trace_files

    def found(**changed: Any) -> tuple[list[str], int]:
        return of(with_manifest(run, trace_files=[file.model_copy(update=changed)]), source)

    assert found() == ([], 5)
    assert found(bytes=8) == ([f"bytes of {path}: expected 7, found 8"], 5)
    assert found(changed=True) == (
        [f"{path} changed while the run went on: expected False, found True"],
        5,
    )
    assert found(path="another") == (
        [f"SHA-256 of {path}: expected None, found {file.sha256}"],
        3,
    )
    path.write_text("another trace")
    assert found() == ([f"SHA-256 of {path}: expected {file.sha256}, found {sha256(path)}"], 3)
    violations, _ = of(with_manifest(run, trace_files=[]), source)
    assert violations[0] == "number of trace files: expected 0, found 1"


class Asking(Trace):
    """A source without files, which asks a program."""

    def __init__(self, folder: Path, jobs: Sequence[TracedJob]) -> None:
        super().__init__(folder, jobs)
        self.files = ()

    def read_answers(self) -> Sequence[TraceAnswer]:
        """Return an answer."""
        return [TraceAnswer("unix:/s/jobs", b"[]")]

    def take_answers(self, answers: Sequence[TraceAnswer]) -> None:
        """Ask none the less."""


def test_answers_of_programs(tmp_path: Path) -> None:
    """They are asked for again, and compared by hash and size; notes say what was read."""
    run = write_run(tmp_path / "run")
    digest = "4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945"
    file = TraceFile(path="unix:/s/jobs", bytes=2, sha256=digest, answer=True)

    def found(**changed: Any) -> tuple[list[str], int]:
        other = with_manifest(run, trace_files=[file.model_copy(update=changed)])
        return of(other, Asking(tmp_path, []))

    assert found() == ([], 5)
    assert found(bytes=3) == (["bytes of unix:/s/jobs: expected 2, found 3"], 5)
    assert found(sha256="0") == ([f"SHA-256 of unix:/s/jobs: expected 0, found {digest}"], 3)
    told = "unix:/s/jobs is the answer of a program: expected True, found False"
    assert found(answer=False) == ([told], 5)
    assert found(path="another")[0][0] == f"SHA-256 of unix:/s/jobs: expected None, found {digest}"
    other = with_manifest(run, trace_files=[file.model_copy(update={"sha256": "0"})])
    check = trace_files(audited(other, source=Asking(tmp_path, [])))
    assert check is not None
    (told,) = check.notes
    assert "gives another answer than in the run, which kept no copy" in told
    (run.path / "trace_answers.zip").touch()
    kept = with_manifest(run, trace_files=[file])
    check = trace_files(audited(kept, source=Asking(tmp_path, [])))
    assert check is not None
    told = "unix:/s/jobs was read from trace_answers.zip, and not asked for again"
    assert (check.violations, check.notes) == ([], [told])


OBSERVERS = "observers: [reasons, event-log, cpu-memory]\n"
LATE = PLAIN + OBSERVERS + "simulation: {dispatch_latency: {fixed: 4s}}\n"
SITES = {
    "site": SITE,
    "failing": SITE.replace("  failure_log", "  requeue: false\n  failure_log"),
    "slow": SITE.replace("fixed: 1s", "fixed: 9s"),
    "plain": PLAIN + OBSERVERS,
    "late": LATE,
}
SLURM = "{name: slurm-backfill, bf_interval: 7, default_queue_depth: 2}"
HYPER = "{name: hyper, portfolio: [easy, conservative, slurm-backfill]}"
QUICK = [("site", "conservative"), ("late", SLURM), ("failing", "order-search")]
DISPATCHERS = (
    *("list", "easy", "{name: easy, order: multifactor}", "conservative", "slack", "reject"),
    *(SLURM, HYPER, "order-search", "hcp19", "pcp21"),
)


def random_jobs(seed: int) -> list[tuple[Any, ...]]:
    """Return 60 jobs as `JOBS` has them: some without length, some that wait for others."""
    draw = random.Random(seed)
    jobs: list[tuple[Any, ...]] = []
    time = 0
    for number in range(1, 61):
        time += draw.choice([0, 0, 1, 3, 10, 20])
        length = draw.choice([0, 1, 5, 20, 60, 90])
        limit = draw.choice([length or 1, length + 10, length * 2 + 1, max(1, length // 2)])
        after = "-1 -1"
        if jobs and draw.random() < 0.1:
            after = f"{draw.randint(1, number - 1)} {draw.choice([0, -1, 5])}"
        units, queue = draw.choice([1, 1, 2, 3, 4, 6, 8]), draw.choice([1, 2])
        jobs.append((number, time, length, units, limit, draw.randint(1, 4), queue, after))
    return jobs


@pytest.fixture(scope="module", name="details")
def _details(tmp_path_factory: pytest.TempPathFactory) -> Reasons:
    """Return the test of details for a run of the jobs that `test_every_rule` has."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "failures.csv").write_text(FAILURES)
    (folder / "jobs.swf").write_text(swf_lines(JOBS))
    (folder / "scenario.yaml").write_text(SITE)
    directory = run(load_scenario(folder / "scenario.yaml"), folder / "run").directory
    parts = assemble_again(directory)
    conditions = {"partitions": parts.partitions, "outages": parts.outages}
    at = open_run(directory, parts.system, parts.source, DECLARED, **conditions)
    return Reasons(Check("reasons are right"), at)


def ran(folder: Path, site: str, dispatcher: str, seed: int = 0) -> RunDirectory:
    """Run random jobs."""
    text = SITES[site].replace("dispatcher: easy", f"dispatcher: {dispatcher}")
    (folder / "failures.csv").write_text(FAILURES)
    (folder / "jobs.swf").write_text(swf_lines(random_jobs(seed)))
    (folder / "scenario.yaml").write_text(text.replace("{name: easy}", dispatcher))
    return run(load_scenario(folder / "scenario.yaml"), folder / "run").directory


@pytest.mark.parametrize(
    ("site", "dispatcher", "seed"),
    [
        *((site, dispatcher, 0) for site, dispatcher in QUICK),
        *(
            pytest.param(site, dispatcher, seed, marks=pytest.mark.slow)
            for site in SITES
            for dispatcher in DISPATCHERS
            for seed in (1, 2)
        ),
    ],
)
def test_honest_runs(tmp_path: Path, site: str, dispatcher: str, seed: int) -> None:
    """Nothing is found, and each file was looked at."""
    report = audit_directory(ran(tmp_path, site, dispatcher, seed))
    assert report.ok, messages(report)
    claims = [check.claim for check in report.checks if check.looked_at]
    assert "the log of events is that of the jobs and rounds, in order of time" in claims
    assert "the rows of usage.parquet are those of the rounds" in claims


@pytest.mark.parametrize(
    ("kind", "detail", "known"),
    [
        ("no_room", "shared resource power", True),
        ("no_room", "shared resource heat", False),
        ("no_room", "shared resource power; at first promised for 9 s", True),
        ("no_room", "at first promised for 99 s", False),  # it is planned for 50
        ("reserved_for", "shared resource power", False),
        ("behind", "because", False),
        ("solver_postponed", "jobs that run for no time go first in an instant", True),
        ("not_planned", "jobs that run for no time go first in an instant", False),
        ("outage", "maintenance weekly", True),
        ("outage", "maintenance weekly, failure", False),  # it is over
        ("outage", "maintenance weekly and 1 more", False),
        ("outage", "", False),
        ("limit", "partition long: MaxTRESPerUser nodes=2", True),
        ("limit", "partition long: MaxTRESPerUser nodes=3", False),
        ("limit", "node thin-0 is out of service", False),
        ("limit", "node thin-0 goes out of service at 300, and the job is predicted to", False),
        (
            "limit",
            "node fat-0 goes out of service at 300, and the job is predicted to end at 521",
            True,
        ),
        (
            "limit",
            "shared resource power: 20 would be drawn, 10 free since the decision was asked for",
            True,
        ),
        (
            "limit",
            "shared resource power: 10 would be drawn, 20 free since the decision was asked for",
            False,
        ),
        ("dependency", "", False),  # the job waits for no other
    ],
)
def test_details(details: Reasons, *, kind: Any, detail: str, known: bool) -> None:
    """A detail names resources, partitions and outages of the scenario that can be the cause.

    Job 6 is submitted at 20, and its round is carried out at 21; it is predicted to run for 500 s.
    """
    time = None if kind == "outage" else 50
    assert details.may_be(ReasonRow(5, 20, 6, kind, None, time, detail, 21)) is known


@pytest.mark.parametrize(("time", "known"), [(None, True), (310, True), (309, False)])
def test_a_start_after_maintenance(details: Reasons, *, time: int | None, known: bool) -> None:
    """Job 6, which maintenance from 300 to 310 keeps waiting, is planned for no time before 310."""
    row = ReasonRow(5, 20, 6, "outage", None, time, "maintenance weekly", 21)
    assert details.may_be(row) is known


def test_another_promise_after_a_start(details: Reasons) -> None:
    """A job has one promise until it starts; one that lost a node and waits again has another."""
    row = ReasonRow(5, 20, 6, "no_room", None, 50, "at first promised for 9 s", 21)
    later = row._replace(detail="at first promised for 12 s")
    assert details.may_be(row)
    assert not details.may_be(later)
    assert details.may_be(row._replace(kind="in_order", time=None, detail=""))
    assert details.may_be(later)


def test_events_of_a_run_that_was_broken_off(tmp_path: Path) -> None:
    """The numbers of jobs that are left must be those of the summary."""
    directory = ran(tmp_path, "plain", "easy")
    path = directory.path / EVENTS
    lines = path.read_text().splitlines(keepends=True)
    assert json.loads(lines[-1])["event"] == "completed"
    path.write_text("".join(lines[:-1]))
    seal(directory.path)
    said = messages(audit_directory(RunDirectory.open(directory.path)))
    assert "found no such line" in said
    assert "jobs running at the end of events.jsonl: expected 0, found 1" in said
