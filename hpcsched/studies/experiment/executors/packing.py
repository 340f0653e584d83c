"""Folders as bytes, to be sent between machines that share no files."""

import hashlib
import io
import json
from collections.abc import Mapping
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

from hpcsched.studies.experiment.executors.attempt import LOG, RUN
from hpcsched.whole_files import write_bytes, write_text

_MANIFEST = "manifest.json"
_RESOLVED = "scenario.yaml"


def pack(attempt: Path, *, run: bool) -> bytes:
    """Return the log of an attempt, and with `run` its run directory, as an archive."""
    buffer = io.BytesIO()
    with ZipFile(buffer, "w", ZIP_DEFLATED, compresslevel=1) as archive:
        for name in (LOG, RUN) if run else (LOG,):
            # Sorted and lightly compressed: Parquet files are compressed already, and JSON shrinks
            # at any level.
            for path in sorted([attempt / name, *(attempt / name).rglob("*")]):
                if path.exists():
                    archive.write(path, path.relative_to(attempt))
    return buffer.getvalue()


def unpack(content: bytes, attempt: Path) -> None:
    """Write an archive into a folder.

    Raises
    ------
    OSError, zipfile.BadZipFile
        If that fails.
    """
    with ZipFile(io.BytesIO(content)) as archive:
        archive.extractall(attempt)


def put_back_paths(run: Path, scenario: str, paths: Mapping[str, str]) -> None:
    """Replace the paths of another machine in a run by those of this one.

    Parameters
    ----------
    run
        The run directory.
    scenario
        The scenario with the paths of this machine.
    paths
        Path of each trace file on this machine, by its path there.
    """
    resolved = scenario.encode()
    write_bytes(run / _RESOLVED, resolved)
    manifest = run / _MANIFEST
    content = json.loads(manifest.read_text(encoding="utf-8"))
    if content["files"]:  # not while the run was killed before its end
        content["files"][_RESOLVED] = hashlib.sha256(resolved).hexdigest()
    for file in content["trace_files"]:
        file["path"] = paths.get(file["path"], file["path"])
    text = json.dumps(content, indent=2, ensure_ascii=False)
    write_text(manifest, f"{text}\n")
