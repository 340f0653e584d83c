"""Folders as bytes, to be sent between machines that share no files."""

import hashlib
import io
import json
from collections.abc import Mapping
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

from hpcsched.experiment.executors.attempt import LOG, RUN

_MANIFEST = "manifest.json"
_RESOLVED = "scenario.yaml"


def pack(attempt: Path, *, run: bool) -> bytes:
    """Return what came of an attempt: the log and, on request, the run directory."""
    buffer = io.BytesIO()
    with ZipFile(buffer, "w", ZIP_DEFLATED, compresslevel=1) as archive:
        for name in (LOG, RUN) if run else (LOG,):
            for path in sorted([attempt / name, *(attempt / name).rglob("*")]):
                if path.exists():
                    archive.write(path, path.relative_to(attempt))
    return buffer.getvalue()


def unpack(content: bytes, attempt: Path) -> None:
    """Write what was packed into a folder; raises OSError or zipfile.BadZipFile where it fails."""
    with ZipFile(io.BytesIO(content)) as archive:
        archive.extractall(attempt)


def put_back_paths(run: Path, scenario: str, paths: Mapping[str, str]) -> None:
    """Let a run that was made elsewhere speak of the files of this machine.

    `paths` maps the paths of trace files there to those here, `scenario` is the text with these.
    """
    resolved = scenario.encode()
    (run / _RESOLVED).write_bytes(resolved)
    manifest = run / _MANIFEST
    content = json.loads(manifest.read_text(encoding="utf-8"))
    if content["files"]:  # not while the run was killed before its end
        content["files"][_RESOLVED] = hashlib.sha256(resolved).hexdigest()
    for file in content["trace_files"]:
        file["path"] = paths.get(file["path"], file["path"])
    text = json.dumps(content, indent=2, ensure_ascii=False)
    manifest.write_text(f"{text}\n", encoding="utf-8")
