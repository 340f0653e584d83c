"""The manifest: versions, inputs and status of a run."""

import hashlib
import os
import platform
import zlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Literal
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile, ZipInfo

from pydantic import BaseModel, ConfigDict

from hpcsched.errors import HpcschedError, InputError
from hpcsched.runs.files import MANIFEST, STATE, TRACE_ANSWERS, read_model, write_json
from hpcsched.version import __version__
from hpcsched.whole_files import file_error, replacing
from hpcsched.workload.trace_source import TraceAnswer

FORMAT = 6
"""The version of the run directory's layout; readers refuse any other."""

ON_A_CLUSTER = "it was made on a real cluster"
"""Why a live run is not reproducible."""

Status = Literal["running", "complete", "interrupted", "failed"]


def error_text(error: BaseException) -> str:
    """Return the manifest's text of an error; an error not meant for users has its kind."""
    if isinstance(error, HpcschedError):
        return str(error)
    return f"{type(error).__name__}: {error}"


class TraceFile(BaseModel):
    """A file of the trace, as it was when the run began.

    Attributes
    ----------
    changed
        True if the file was different or gone when the run ended.
    answer
        True if it is no file but the answer of a program, and the path the name of that.
    """

    model_config = ConfigDict(frozen=True)

    path: str
    bytes: int
    sha256: str
    changed: bool = False
    answer: bool = False


class Manifest(BaseModel):
    """Content of `manifest.json`.

    Attributes
    ----------
    started, finished
        Wall-clock instants (ISO 8601, UTC).
    plugins
        Versions of the distributions whose plugins the scenario uses.
    reproducible, not_reproducible_because
        False with reasons if the results depend on the machine.
    files
        SHA-256 of the other files of the directory; empty while the run goes on.
    in_python
        Parts of the scenario that kept the replay out of compiled code; empty if none did, None if
        unknown.
    error
        The error with which the run failed; None if it did not, or unknown.
    """

    model_config = ConfigDict(frozen=True)

    format: int
    status: Status
    scenario: str
    seed: int
    started: str
    finished: str | None
    versions: dict[str, str]
    plugins: dict[str, str]
    trace_files: list[TraceFile]
    trace_comments: list[str]
    platform: str
    cpu_count: int | None
    reproducible: bool
    not_reproducible_because: list[str]
    files: dict[str, str]
    in_python: list[str] | None = None
    error: str | None = None


def package_versions(packages: Sequence[str] = ("numpy", "pyarrow", "pydantic")) -> dict[str, str]:
    """Return the versions of hpcsched, Python and packages, by default those of every run."""
    return {
        "hpcsched": __version__,
        "python": platform.python_version(),
        **{name: _version(name) for name in packages},
    }


# Found anew each time, versions take nearly half of the planning of an experiment.
_version = cache(version)


def start_manifest(
    folder: Path,
    *,
    scenario: str,
    seed: int,
    trace_files: Sequence[Path],
    plugins: Mapping[str, str],
    trace_answers: Sequence[TraceAnswer] = (),
    not_reproducible_because: Sequence[str] = (),
) -> Manifest:
    """Write the manifest of a run that starts now, with status `running`, and return it."""
    files = [(str(path), sha256(path), path.stat().st_size, False) for path in trace_files]
    for name, content in trace_answers:
        files.append((name, content_sha256(content), len(content), True))
    # Written before the first event, so that a killed run says that it was running.
    manifest = Manifest(
        format=FORMAT,
        status="running",
        scenario=scenario,
        seed=seed,
        started=_now(),
        finished=None,
        versions=package_versions(),
        plugins=dict(plugins),
        trace_files=[
            TraceFile(path=path, sha256=digest, bytes=size, answer=answer)
            for path, digest, size, answer in files
        ],
        trace_comments=[],
        platform=platform.platform(),
        cpu_count=os.cpu_count(),
        reproducible=not not_reproducible_because,
        not_reproducible_because=list(not_reproducible_because),
        files={},
    )
    write_json(folder / MANIFEST, manifest.model_dump())
    return manifest


def finish_manifest(
    folder: Path,
    manifest: Manifest,
    status: Status,
    trace_comments: Sequence[str],
    in_python: Sequence[str] | None = None,
    *,
    error: str | None = None,
    not_reproducible: Sequence[str] = (),
) -> Manifest:
    """Write the manifest of a run that has ended, and return it.

    A trace file that has changed meanwhile makes the run irreproducible, as do the reasons in
    `not_reproducible`. All other files must have been written before: their hashes are taken now.
    `error` is what ended a run that failed.
    """
    # The trace is read while the run goes on, so it is hashed before and after.
    read = [file.model_copy(update={"changed": has_changed(file)}) for file in manifest.trace_files]
    why = [f"{file.path} changed while the run went on" for file in read if file.changed]
    because = [*manifest.not_reproducible_because, *not_reproducible, *why]
    finished = manifest.model_copy(
        update={
            "trace_files": read,
            "reproducible": not because,
            "not_reproducible_because": because,
            "status": status,
            "finished": _now(),
            "trace_comments": list(trace_comments),
            "files": file_hashes(folder),
            "in_python": None if in_python is None else list(in_python),
            "error": error,
        }
    )
    write_json(folder / MANIFEST, finished.model_dump())
    return finished


def read_manifest(folder: Path) -> Manifest:
    """Read the manifest of a run directory."""
    path = folder / MANIFEST
    if not path.is_file():
        raise file_error("not-a-run", folder, f"it is not a run directory: it has no {MANIFEST}")
    return read_model(path, Manifest, FORMAT)


def file_hashes(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of each file of a run directory, by relative path, sorted.

    The manifest cannot hold its own hash, and `state.json` is removed when a run has ended. Hidden
    files are no results.
    """
    paths = {path.relative_to(folder): path for path in folder.rglob("*") if path.is_file()}
    return {
        inside.as_posix(): sha256(path)
        for inside, path in sorted(paths.items())
        if inside.as_posix() not in (MANIFEST, STATE)
        and not any(part.startswith(".") for part in inside.parts)
    }


def has_changed(file: TraceFile) -> bool:
    """Return True if a trace file is different now, or cannot be read any more."""
    if file.answer:
        return False
    try:
        return sha256(Path(file.path)) != file.sha256
    except InputError:
        return True


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise file_error("missing-file", path, f"it cannot be read: {error.strerror}") from error


def content_sha256(content: bytes) -> str:
    """Return the SHA-256 of a content, in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def keep_answers(folder: Path, answers: Sequence[TraceAnswer]) -> None:
    """Write the answers into a run directory; without any, no file."""
    if not answers:
        return
    with replacing(folder / TRACE_ANSWERS) as unfinished, ZipFile(unfinished, "w") as file:
        for k, answer in enumerate(answers, 1):
            # Without a date: equal answers are equal bytes.
            file.writestr(ZipInfo(f"answer-{k}"), answer.content, ZIP_DEFLATED)


def keeps_answers(folder: Path) -> bool:
    """Return True if a run directory keeps the answers that its trace was read from."""
    return (folder / TRACE_ANSWERS).is_file()


def kept_answers(folder: Path, manifest: Manifest) -> tuple[TraceAnswer, ...]:
    """Return the answers that a run directory keeps; none if the run asked nobody or kept none."""
    path = folder / TRACE_ANSWERS
    names = [file.path for file in manifest.trace_files if file.answer]
    if not names or not keeps_answers(folder):
        return ()
    try:
        with ZipFile(path) as file:
            return tuple(
                TraceAnswer(name, file.read(f"answer-{k}")) for k, name in enumerate(names, 1)
            )
    except (OSError, BadZipFile, KeyError, EOFError, zlib.error, NotImplementedError) as error:
        raise file_error("damaged-file", path, f"it is damaged: {error}") from error
