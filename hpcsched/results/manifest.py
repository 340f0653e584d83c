"""The manifest: with what, on what and how far a run was made."""

import hashlib
import os
import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from hpcsched.errors import InputError
from hpcsched.results.files import MANIFEST, STATE, problem, read_json, write_json
from hpcsched.version import __version__

FORMAT = 6
"""The version of the run directory's layout; readers refuse any other."""

ON_A_CLUSTER = "it was made on a real cluster"
"""Why a live run is not reproducible."""

Status = Literal["running", "complete", "interrupted", "failed"]


class TraceFile(BaseModel):
    """A file that the trace was read from, as it was when the run began.

    `changed` says that it was another, or gone, when the run had ended.
    """

    model_config = ConfigDict(frozen=True)

    path: str
    bytes: int
    sha256: str
    changed: bool = False


class Manifest(BaseModel):
    """The content of `manifest.json`.

    `scenario` is the scenario's name; `started` and `finished` are wall-clock instants (ISO 8601,
    UTC); `plugins` maps the distributions whose plugins the scenario uses to their versions;
    `trace_comments` is the trace's own header, with what it wants acknowledged. Where
    `reproducible` is false, `not_reproducible_because` says why. `files` maps the other files of
    the directory to their SHA-256; it is empty while the run goes on. `in_python` says what kept
    jobs from being replayed in compiled code; it is empty if nothing did, and None if that is not
    known yet or was not told.
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


def package_versions() -> dict[str, str]:
    """Return the versions of hpcsched, of Python, and of what every run goes through."""
    return {
        "hpcsched": __version__,
        "python": platform.python_version(),
        **{name: version(name) for name in ("numpy", "pyarrow", "pydantic")},
    }


def start_manifest(
    folder: Path,
    *,
    scenario: str,
    seed: int,
    trace_files: Sequence[Path],
    plugins: Mapping[str, str],
    not_reproducible_because: Sequence[str] = (),
) -> Manifest:
    """Write and return the manifest of a run that starts now, with status `running`.

    `plugins` maps distributions to versions. Raises InputError where a trace file cannot be read or
    the manifest cannot be written.
    """
    manifest = Manifest(
        format=FORMAT,
        status="running",
        scenario=scenario,
        seed=seed,
        started=_now(),
        finished=None,
        versions=package_versions(),
        plugins=dict(plugins),
        trace_files=[_trace_file(path) for path in trace_files],
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
) -> Manifest:
    """Write and return the manifest of a run that has come to an end.

    A trace file that has changed meanwhile makes the run one that cannot be reproduced. All other
    files must have been written: their hashes are taken now. Raises InputError where one
    cannot be read or the manifest cannot be written.
    """
    read = [file.model_copy(update={"changed": has_changed(file)}) for file in manifest.trace_files]
    why = [f"{file.path} changed while the run went on" for file in read if file.changed]
    because = [*manifest.not_reproducible_because, *why]
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
        }
    )
    write_json(folder / MANIFEST, finished.model_dump())
    return finished


def read_manifest(folder: Path) -> Manifest:
    """Return the manifest of a run directory.

    Raises InputError where there is none, it is damaged, or of a format that is not known here.
    """
    path = folder / MANIFEST
    if not path.is_file():
        raise problem("not-a-run", folder, f"it is not a run directory: it has no {MANIFEST}")
    content = read_json(path)
    found = content.get("format")
    if found != FORMAT:
        message = f"it has format {found!r}; this version of hpcsched reads format {FORMAT}"
        raise problem("unknown-format", path, message)
    try:
        return Manifest.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"]))
        raise problem("damaged-file", path, f"it is damaged: {key}: {first['msg']}") from error


def file_hashes(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of each file of a run directory, by its path there, in order of paths.

    The manifest cannot hold its own hash, and `state.json` goes when a run has ended. Hidden files
    are no results. Raises InputError where a file cannot be read.
    """
    paths = {path.relative_to(folder): path for path in folder.rglob("*") if path.is_file()}
    return {
        inside.as_posix(): sha256(path)
        for inside, path in sorted(paths.items())
        if inside.as_posix() not in (MANIFEST, STATE)
        and not any(part.startswith(".") for part in inside.parts)
    }


def has_changed(file: TraceFile) -> bool:
    """Whether a trace file is not what it was, or cannot be read any more."""
    try:
        return sha256(Path(file.path)) != file.sha256
    except InputError:
        return True


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal; raises InputError if it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise problem("missing-file", path, f"it cannot be read: {error.strerror}") from error


def _trace_file(path: Path) -> TraceFile:
    digest = sha256(path)
    return TraceFile(path=str(path), bytes=path.stat().st_size, sha256=digest)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
