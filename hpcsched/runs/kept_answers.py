"""Copies in the run directory of the answers of programs that its trace was read from."""

import zlib
from collections.abc import Sequence
from pathlib import Path
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile, ZipInfo

from hpcsched.runs.files import TRACE_ANSWERS
from hpcsched.runs.manifest import Manifest
from hpcsched.whole_files import problem, replacing
from hpcsched.workload.trace_source import TraceAnswer

_DATE = (1980, 1, 1, 0, 0, 0)
"""Date of the members: equal answers are equal bytes."""


def keep_answers(folder: Path, answers: Sequence[TraceAnswer]) -> None:
    """Write the answers into a run directory; without any, no file.

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    if not answers:
        return
    path = folder / TRACE_ANSWERS
    with replacing(path) as unfinished, ZipFile(unfinished, "w", ZIP_DEFLATED) as file:
        for k, answer in enumerate(answers, 1):
            member = ZipInfo(_member(k), _DATE)
            # Below umask, as other files: a zip says no more than the run directory.
            member.external_attr = 0o644 << 16
            file.writestr(member, answer.content, ZIP_DEFLATED)


def keeps_answers(folder: Path) -> bool:
    """Return True if a run directory keeps the answers that its trace was read from."""
    return (folder / TRACE_ANSWERS).is_file()


def kept_answers(folder: Path, manifest: Manifest) -> tuple[TraceAnswer, ...]:
    """Return the answers that a run directory keeps; none if the run asked nobody or kept none.

    Raises
    ------
    InputError
        If the file is damaged.
    """
    path = folder / TRACE_ANSWERS
    names = [file.path for file in manifest.trace_files if file.answer]
    if not names or not keeps_answers(folder):
        return ()
    try:
        with ZipFile(path) as file:
            return tuple(
                TraceAnswer(name, file.read(_member(k))) for k, name in enumerate(names, 1)
            )
    except (OSError, BadZipFile, KeyError, EOFError, zlib.error, NotImplementedError) as error:
        raise problem("damaged-file", path, f"it is damaged: {error}") from error


def _member(number: int) -> str:
    return f"answer-{number}"
