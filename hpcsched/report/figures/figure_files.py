"""Figures as files: vectors or pixels by the name of the file; equal bytes for equal runs."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hpcsched.errors import Finding, InputError
from hpcsched.report.figures.figure_style import FONT_SIZE, chart_config
from hpcsched.whole_files import check_target, make_folder, write_bytes

if TYPE_CHECKING:
    from hpcsched.report.figures.chart_parts import Chart

FORMATS = ("pdf", "svg", "png")
DOTS = 200
"""Dots per inch of what is drawn in pixels."""


def format_of(path: Path) -> str:
    """Return the figure format of a file by the ending of its name."""
    kind = path.suffix.removeprefix(".").lower()
    if kind not in FORMATS:
        there = ", ".join(f".{name}" for name in FORMATS)
        raise InputError(Finding("unknown-format", f"{path} does not end in one of {there}"))
    return kind


def description(chart: "Chart", font_size: int = FONT_SIZE) -> dict[str, Any]:
    """Return the Vega-Lite description of a chart, with the style of all figures."""
    found: dict[str, Any] = chart.to_dict()
    return {**found, "config": chart_config(font_size)}


def drawn(chart: "Chart", kind: str, dots: int = DOTS) -> bytes:
    """Return the content of a figure's file.

    Parameters
    ----------
    dots
        Dots per inch of pixels.
    """
    import vl_convert  # noqa: PLC0415 (it holds a browser's engine of JavaScript)

    vectors = _numbered(vl_convert.vegalite_to_svg(description(chart)))
    if kind == "pdf":
        return _ordered(vl_convert.svg_to_pdf(vectors))
    if kind == "png":
        pixels: bytes = vl_convert.svg_to_png(vectors, ppi=dots)
        return pixels
    return vectors.encode()


def _numbered(vectors: str) -> str:
    """Return SVG whose clipping areas are numbered from 1, whatever was drawn before.

    Vega counts them on through a process, so that equal figures would not be equal files.
    """
    first: dict[str, str] = {}

    def renamed(found: re.Match[str]) -> str:
        return found[1] + first.setdefault(found[2], f"clip{len(first) + 1}") + found[3]

    return re.sub(r'(id="|url\(#)(clip\d+)("|\))', renamed, vectors)


def _ordered(document: bytes) -> bytes:
    """Return PDF with the names of resources in order; the library gives them in any order.

    Sorting the lines of a dictionary moves nothing else, so that offsets in the file stay right.
    """

    def in_order(found: re.Match[bytes]) -> bytes:
        return b"".join(sorted(found[0].splitlines(keepends=True)))

    return re.sub(rb"(?:^ +/\w+ \d+ 0 R\n)+", in_order, document, flags=re.MULTILINE)


def write_figure(chart: "Chart", path: Path, *, force: bool = False, dots: int = DOTS) -> None:
    """Draw a figure and write it, whole or not at all.

    Parameters
    ----------
    dots
        Dots per inch of pixels.
    """
    kind = format_of(path)
    # Before drawing, which may take a while.
    check_target(path, force=force)
    make_folder(path.parent)
    write_bytes(path, drawn(chart, kind, dots))
