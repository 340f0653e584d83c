"""The pages of the documentation, and the blocks of code in them.

What a page shows is run, in the order of the page, in a folder of its own that holds `scenarios/`
and `schemas/`:

- `console`: each line with `$ ` is a command, continued after a backslash; what follows it is its
  output, which is compared if any is shown. A line `...` stands for any lines, `...` within a line
  for any text. A command must exit with 0, unless `$ echo $?` follows and shows something else.
- `python`: the blocks of a page are one program. A `text` block right after one is its output.
- `yaml`: a scenario, or some of its keys, which are put into a scenario; either must be valid.
- `json`: must be JSON.

A comment before a block, which readers do not see, says what cannot be guessed:

- `<!-- file: PATH -->`: the block is the content of that file, which is written;
- `<!-- needs traces -->`: it is run only where the real traces are at hand (HPCSCHED_TRACES);
- `<!-- not run: WHY -->`: it is not run.
"""

import re
import sys
import textwrap
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
SITE = sorted(DOCS.rglob("*.md"))
"""The pages of the site."""

NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.ipynb"))
"""Pages that are run as the site is made."""

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *SITE]

_BLOCK = re.compile(
    r"(?:^[ ]*<!-- (?P<note>[^\n]*?) -->\n\s*)?"
    r"^(?P<indent>[ ]*)```(?P<language>\w+)\n(?P<text>.*?)^[ ]*```$",
    re.DOTALL | re.MULTILINE,
)
_HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
_FENCED = re.compile(r"^[ ]*```.*?^[ ]*```$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A block of code: its language, its text, the note before it, and whether it follows another.

    `follows` is the block right before it, with no words between them.
    """

    language: str
    text: str
    note: str
    line: int
    follows: "Block | None" = None

    @property
    def file(self) -> str | None:
        """The file that the block is the content of."""
        return self.note.removeprefix("file: ") if self.note.startswith("file: ") else None

    @property
    def needs_traces(self) -> bool:
        """Whether the block is run only where real traces are at hand."""
        return self.note == "needs traces"

    @property
    def is_run(self) -> bool:
        """Whether the block is run at all."""
        return not self.note.startswith("not run: ")


def blocks(page: Path) -> list[Block]:
    """Return the blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    found: list[Block] = []
    last_end = 0
    for match in _BLOCK.finditer(text):
        alone = text[last_end : match.start()].strip() or not found
        found.append(
            Block(
                match["language"],
                textwrap.dedent(match["text"]),
                match["note"] or "",
                text.count("\n", 0, match.start("indent")) + 1,
                None if alone else found[-1],
            )
        )
        last_end = match.end()
    return found


@cache
def reference() -> ModuleType:
    """What the site makes of the code for its pages."""
    sys.path.insert(0, str(DOCS))
    try:
        return import_module("reference")
    finally:
        sys.path.remove(str(DOCS))


def anchors(page: Path) -> set[str]:
    """Return what a link to a heading of a page may end in, after `#`."""
    text = page.read_text(encoding="utf-8")
    if page in SITE:
        text = reference().make_page(text)
    headings = _HEADING.findall(_FENCED.sub("", text))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def without_blocks(page: Path) -> str:
    """Return the text of a page without its blocks of code."""
    return _FENCED.sub("", page.read_text(encoding="utf-8"))


def tables(text: str) -> list[list[list[str]]]:
    """Return the rows of each Markdown table in a text, the header first, as lists of cells."""
    found: list[list[list[str]]] = []
    inside = False
    for line in text.splitlines():
        if not line.startswith("|"):
            inside = False
            continue
        if not inside:
            found.append([])
        inside = True
        cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if set("".join(cells)) - set("-: "):
            found[-1].append(cells)
    return found
