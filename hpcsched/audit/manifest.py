"""Checks of the manifest against the scenario, the trace and the files of the run directory."""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta

import pyarrow.parquet as pq

from hpcsched.audit.declared import Declared
from hpcsched.audit.violations import Check
from hpcsched.runs.directory import RunDirectory
from hpcsched.runs.files import JOBS, KNOWN, OPTIONAL, ROUNDS, TRACE_ANSWERS
from hpcsched.runs.manifest import (
    Manifest,
    content_sha256,
    file_hashes,
    package_versions,
    sha256,
)
from hpcsched.runs.solver_rounds import lost_in_words
from hpcsched.runs.tables import lost_calls
from hpcsched.workload.trace_source import TraceSource, answers_of

_VERSION = re.compile(r"\d+(\.\d+)*([-.+]?[A-Za-z0-9]+)*")
_WRITER = re.compile(r"version (\d+\.\d+\.\d+)")
_LEFT = ("waiting", "running", "not_yet_submitted")


def check_files(run: RunDirectory) -> Check:
    """Check that each file has the SHA-256 that the manifest recorded when the run ended."""
    check = Check("every file of the directory is as it was when the run ended, by its SHA-256")
    recorded, found = run.manifest.files, file_hashes(run.path)
    for name in sorted(recorded):
        if name in found:
            check.expect(f"SHA-256 of {name}", recorded[name], found[name])
        else:
            check.looked_at += 1
            check.found(f"{name}: expected in the directory, found it gone")
    for name in sorted(set(found) - set(recorded)):
        if name in (*KNOWN, *OPTIONAL):
            check.looked_at += 1
            check.found(f"{name}: expected its SHA-256 in the manifest, found none")
        else:
            check.notes.append(f"{name} was put there after the run")
    return check


def check_trace_files(manifest: Manifest, source: TraceSource, *, kept: bool = False) -> Check:
    """Check that the files of the trace are those of the run, by SHA-256 and size.

    Answers of programs are those that the run kept; if it kept none, they are asked for again.

    Parameters
    ----------
    kept
        True if the source reads the answers that the run kept.
    """
    check = Check("the trace is the one that was run")
    recorded = {file.path: file for file in manifest.trace_files}
    found = [(str(path), sha256(path), path.stat().st_size, False) for path in source.files]
    for name, content in answers_of(source):
        found.append((name, content_sha256(content), len(content), True))
    check.expect("number of trace files", len(manifest.trace_files), len(found))
    for name, digest, size, is_answer in found:
        of_run = recorded.get(name)
        check.expect(f"SHA-256 of {name}", of_run and of_run.sha256, digest)
        if is_answer and kept:
            check.notes.append(f"{name} was read from {TRACE_ANSWERS}, and not asked for again")
        elif is_answer and of_run is not None and of_run.sha256 != digest:
            check.notes.append(
                f"{name} gives another answer than in the run, which kept no copy: the checks of"
                " jobs compare with the present answer"
            )
        if of_run is not None and of_run.sha256 == digest:
            check.expect(f"bytes of {name}", size, of_run.bytes)
            check.expect(f"{name} is the answer of a program", is_answer, of_run.answer)
    for file in manifest.trace_files:
        check.expect(f"{file.path} changed while the run went on", False, file.changed)
    return check


def check_manifest(run: RunDirectory, declared: Declared, comments: Sequence[str]) -> Check:
    """Check the manifest's scenario, versions, and start and end of the run."""
    check = Check("the manifest agrees with the scenario, the trace and the files beside it")
    manifest = run.manifest
    check.expect("scenario", declared.name, manifest.scenario)
    check.expect("seed", declared.seed, manifest.seed)
    if not run.partial:
        check.expect("trace_comments", list(comments), manifest.trace_comments)
    check.expect("plugins", sorted(declared.distributions), sorted(manifest.plugins))
    _check_versions(check, run)
    because = manifest.not_reproducible_because
    if not any(file.changed for file in manifest.trace_files):
        lost = lost_in_words(sum(lost_calls(part["solver"]) for part in run.rounds.parts("solver")))
        expected = [*declared.not_reproducible, *([] if lost is None else [lost])]
        check.expect("not_reproducible_because", expected, because)
    check.expect("reproducible", not because, manifest.reproducible)
    check.expect("a platform", True, bool(manifest.platform))
    check.expect(
        "at least one processor", True, manifest.cpu_count is None or manifest.cpu_count > 0
    )
    _check_end(check, run)
    if not run.partial:
        check.expect("error", None, manifest.error)
        check.expect("input_fault", False, manifest.input_fault)
    return check


def _check_versions(check: Check, run: RunDirectory) -> None:
    """Check that versions are well-formed and fit the plugins and Parquet files."""
    versions, plugins = run.manifest.versions, run.manifest.plugins
    # The names, not the numbers: a run may be audited with other versions installed.
    check.expect("versions", sorted(package_versions()), sorted(versions))
    for name, version in {**versions, **plugins}.items():
        check.expect(f"version of {name}: {version!r}", True, bool(_VERSION.fullmatch(version)))
    own = versions.get("hpcsched")
    check.expect("plugins.hpcsched", own, plugins.get("hpcsched", own))
    # Parquet names a release by three numbers, without local suffixes.
    pyarrow = ".".join(versions.get("pyarrow", "").split(".")[:3])
    for name in (JOBS, ROUNDS):
        # Both files have been read by now: they are whole.
        written_by = _WRITER.search(pq.read_metadata(run.path / name).created_by or "")
        if written_by is not None:
            check.expect(f"pyarrow that wrote {name}", pyarrow, written_by[1])


def _check_end(check: Check, run: RunDirectory) -> None:
    """Check when the run began and ended, and that only a partial run left jobs."""
    manifest, jobs = run.manifest, run.summary["jobs"]
    instants = [_instant(text) for text in (manifest.started, manifest.finished)]
    for name, instant, text in zip(
        ("started", "finished"), instants, (manifest.started, manifest.finished), strict=True
    ):
        check.expect(f"{name}: {text!r}: an instant in UTC", True, instant is not None)
    started, finished = instants
    if started is not None and finished is not None:
        check.looked_at += 1
        if finished < started:
            check.notes.append(
                f"it finished at {finished}, before it started at {started}: its machine's clock"
                " was set back, or one of the two was changed"
            )
    expected = list(_LEFT) if run.partial else []
    check.expect(
        f"jobs left in a run that is {manifest.status}",
        expected,
        [key for key in _LEFT if key in jobs],
    )


def _instant(text: str | None) -> datetime | None:
    """Parse an instant in UTC; None if the text is none."""
    try:
        instant = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return instant if instant.utcoffset() == timedelta(0) else None
