"""The command line that shows what an experiment came to: tables and pictures of its folder."""

import argparse
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from comparisons.block import find_block
from comparisons.finished import Finished, read_finished
from hpcsched.errors import HpcschedError
from hpcsched.whole_files import write_text

FORMATS = {"pdf": 300, "png": 200}
"""In what pictures are drawn beside the runs, with the dots per inch of each."""

DOTS = 110
"""Dots per inch of pictures on pages: small files, legible on a screen."""

_MOST_NAMED = 3


class Drawing(NamedTuple):
    """Where pictures are drawn: a folder, and formats (pdf, svg, png) with dots per inch.

    With `whole`, pictures of which a run is missing are left out where they would mislead.
    """

    folder: Path
    formats: Mapping[str, int]
    whole: bool


class Picture(NamedTuple):
    """A picture that was drawn: what it shows, and its files, one for each format."""

    shows: str
    files: Sequence[Path]


Content = Sequence[str | Picture]
"""What is shown, from top to bottom: Markdown, and pictures."""


class Shown(NamedTuple):
    """What is shown of an experiment: the axes that it has, its page, and what makes the content.

    `vectors` says whether the page has its pictures as SVG too.
    """

    name: str
    axes: Collection[str]
    page: Path
    content: Callable[[Finished, Drawing], Content]
    vectors: bool = False


def make_parser(name: str, description: str) -> argparse.ArgumentParser:
    """Return the parser of what all experiments have."""
    parser = argparse.ArgumentParser(
        prog=f"python experiments/{name}.py",
        description=f"{description} The runs are made by `hpcsched experiment"
        f" experiments/{name}.yaml`; those that are not there are left out.",
    )
    folder = Path("runs") / name
    parser.add_argument(
        "folder", type=Path, nargs="?", default=folder, metavar="DIR",
        help=f"the experiment's folder; {folder} if not given",
    )  # fmt: skip
    parser.add_argument(
        "--write-docs", action="store_true",
        help="put tables and pictures into the page of the documentation, not beside the runs",
    )  # fmt: skip
    return parser


def carry_out(
    parser: argparse.ArgumentParser,
    arguments: Sequence[str] | None,
    choose: Callable[[argparse.Namespace], Shown],
) -> int:
    """Show what a command line says; `choose` says what that is.

    Returns 0, 1 where the input is at fault, or 2 for wrong usage.
    """
    try:
        options = parser.parse_args(arguments)
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else 0
    try:
        shown = choose(options)
        finished = read_finished(options.folder, shown.axes)
        if options.write_docs:
            _write_page(shown, finished)
        else:
            _show(shown, finished, options.folder)
    except HpcschedError as error:
        _say(str(error))
        return 1
    if finished.missing:
        more = len(finished.missing) - _MOST_NAMED
        named = ", ".join(finished.missing[:_MOST_NAMED])
        _say(f"not there, and shown so: {named}{f' and {more:,} more' if more > 0 else ''}")
    return 0


def _show(shown: Shown, finished: Finished, folder: Path) -> None:
    """Print the tables, and leave them and the pictures beside the runs."""
    pictures = folder / "figures"
    content = shown.content(finished, Drawing(pictures, FORMATS, whole=False))
    text = "\n\n".join(part for part in content if isinstance(part, str))
    print(text)
    write_text(folder / "tables.md", f"{text}\n")
    drawn = sum(len(part.files) for part in content if isinstance(part, Picture))
    _say(f"tables in {folder / 'tables.md'}" + (f", pictures in {pictures}" if drawn else ""))


def _write_page(shown: Shown, finished: Finished) -> None:
    """Put the content into the page, between the comments that delimit it."""
    block = find_block(shown.page, shown.name)
    formats = {"png": DOTS, "svg": DOTS} if shown.vectors else {"png": DOTS}
    folder = shown.page.parent / "figures" / shown.name
    content = shown.content(finished, Drawing(folder, formats, whole=True))
    block.fill("\n\n".join(lines_of(content, shown.page.parent)))
    for path in (shown.page, *(p for part in content for p in _files(part))):
        _say(f"wrote {path}")


def lines_of(content: Content, folder: Path) -> Iterator[str]:
    """Yield the content as Markdown, with links to pictures from a page in this folder."""
    for part in content:
        if isinstance(part, str):
            yield part
            continue
        for path in part.files:
            where = path.relative_to(folder).as_posix()
            if path.suffix == ".png":
                yield f"![{part.shows}]({where})"
            else:
                yield f"As vectors: [{path.name}]({where})"


def _files(part: str | Picture) -> Sequence[Path]:
    return () if isinstance(part, str) else part.files


def _say(line: str) -> None:
    """Write a line to standard error at once."""
    print(line, file=sys.stderr, flush=True)
