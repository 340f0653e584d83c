"""Records problems, asks them, shows how: `python experiments/same_problems.py --help`."""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from comparisons.asking import FailedError
from comparisons.block import find_block
from comparisons.command import DOTS, FORMATS, Content, Drawing, Picture, lines_of
from comparisons.same_problems.papers import PAPERS, Paper
from comparisons.same_problems.plots import draw
from comparisons.same_problems.questions import Answers, ask_all, read_answers
from comparisons.same_problems.table import Pairings, counts, groups, ratios
from hpcsched.errors import HpcschedError
from hpcsched.studies.problems.solving import Pairing
from hpcsched.whole_files import write_text

DOCS = Path(__file__).parents[1] / "docs"
PROBLEMS = 150


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line says; returns 1, with one line, where something is wrong."""
    parser = argparse.ArgumentParser(
        prog="python experiments/same_problems.py",
        description="Record dispatching problems of two replays under PCP'19, ask PCP'19, PCP₄,"
        " PCP'20 and PCP'21 the same, and show the tables and figures of three papers.",
    )
    parser.add_argument("folder", type=Path, help="where problems, answers and figures are written")
    parser.add_argument(
        "--problems", type=int, default=PROBLEMS,
        help=f"how many of each replay; {PROBLEMS} if not given",
    )  # fmt: skip
    parser.add_argument(
        "--answered", action="store_true", help="show what the folder has, and ask nothing"
    )
    parser.add_argument(
        "--write-docs", action="store_true",
        help="put tables and pictures into the pages of the documentation",
    )  # fmt: skip
    given = parser.parse_args(arguments)
    try:
        given.folder.mkdir(parents=True, exist_ok=True)
        if not given.answered:
            ask_all(given.folder, given.problems)
        answers = read_answers(given.folder)
        for label, paper in PAPERS.items():
            if given.write_docs:
                _write_page(label, paper, answers)
            else:
                _show(label, paper, answers, given.folder)
    except (HpcschedError, OSError, FailedError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def _content(paper: Paper, answers: Mapping[str, Answers], drawing: Drawing) -> Content:
    pairings: Pairings = {
        (pair, letter): Pairing(one.tables[pair.over], one.tables[pair.of])
        for pair in paper.pairs
        for letter, one in answers.items()
    }
    content: list[str | Picture] = [ratios(paper, pairings)]
    if paper.counts:
        content += ["Table 6.2:", counts(paper, pairings)]
    if paper.groups:
        content += ["Table 6.3, in percent:", groups(paper, pairings)]
    drawn = (draw(paper, figure, answers, pairings, drawing) for figure in paper.figures)
    return [*content, *(picture for picture in drawn if picture is not None)]


def _show(label: str, paper: Paper, answers: Mapping[str, Answers], folder: Path) -> None:
    content = _content(paper, answers, Drawing(folder / "figures" / label, FORMATS, whole=False))
    text = "\n\n".join(_texts(content))
    sys.stdout.write(f"{label}:\n\n{text}\n\n")
    write_text(folder / f"{label}.md", f"{text}\n")


def _texts(content: Content) -> Iterator[str]:
    return (part for part in content if isinstance(part, str))


def _write_page(label: str, paper: Paper, answers: Mapping[str, Answers]) -> None:
    page = DOCS / paper.page
    name = f"{label}-same-problems"
    block = find_block(page, name)
    drawing = Drawing(DOCS / "figures" / name, {"png": DOTS}, whole=True)
    block.fill("\n\n".join(lines_of(_content(paper, answers, drawing), DOCS)))


if __name__ == "__main__":
    sys.exit(main())
