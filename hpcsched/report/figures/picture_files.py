"""Figures as files: vectors or pixels by the name of the file; equal bytes for equal runs."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from hpcsched.errors import Finding, InputError
from hpcsched.report.figures.figure_style import STYLE, UNDATED
from hpcsched.results.files import problem

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = ("pdf", "svg", "png")
DOTS = 200
"""Dots per inch of what is drawn in pixels."""


def format_of(path: Path) -> str:
    """Return the figure format of a file by the ending of its name.

    Raises
    ------
    InputError
        The ending is none of .pdf, .svg and .png.
    """
    kind = path.suffix.removeprefix(".").lower()
    if kind not in FORMATS:
        there = ", ".join(f".{name}" for name in FORMATS)
        raise InputError(Finding("unknown-format", f"{path} does not end in one of {there}"))
    return kind


def check_free(path: Path, *, force: bool) -> None:
    """Check that a path may be written to.

    Parameters
    ----------
    path
        File to write.
    force
        Whether an existing file may be replaced.

    Raises
    ------
    InputError
        Something is there that may not be replaced.
    """
    if path.is_dir():
        raise problem("cannot-write", path, "it is a directory")
    if path.exists() and not force:
        raise problem("file-exists", path, "it is there already; --force replaces it")


def write_picture(draw: Callable[["Figure"], None], path: Path, *, force: bool = False) -> None:
    """Draw a figure and write it, whole or not at all.

    Parameters
    ----------
    draw
        Function that draws on an empty figure.
    path
        File to write; its ending is the format.
    force
        Whether an existing file may be replaced.

    Raises
    ------
    InputError
        The file cannot be written.
    """
    import matplotlib as mpl  # noqa: PLC0415 (it takes its time)
    from matplotlib.figure import Figure  # noqa: PLC0415

    kind = format_of(path)
    # Before drawing, which may take a while.
    check_free(path, force=force)
    out = io.BytesIO()
    with mpl.rc_context(STYLE):
        # Without pyplot there is no window and no display: the file's format says what draws it.
        figure = Figure(layout="constrained")
        draw(figure)
        figure.savefig(out, format=kind, dpi=DOTS, metadata=UNDATED[kind])
    write_bytes(path, out.getvalue())


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file whole, and create its folder.

    Raises
    ------
    InputError
        It cannot be written.
    """
    # Renamed at the end: a reader sees the old file or the new one, never a part.
    unfinished = path.with_name(f".{path.name}.unfinished")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished.write_bytes(content)
        unfinished.replace(path)
    except OSError as error:
        message = f"it cannot be written: {error.strerror or error}"
        raise problem("cannot-write", path, message) from error
