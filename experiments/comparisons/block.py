"""A part of a page of the documentation that is written by a program."""

from pathlib import Path
from typing import NamedTuple

from hpcsched.scenario.document import read_text
from hpcsched.whole_files import file_error, write_text


class Block(NamedTuple):
    """What is around the comments `<!-- begin NAME -->` and `<!-- end NAME -->` of a page."""

    page: Path
    before: str
    after: str

    def fill(self, content: str) -> None:
        """Write the page with new content; raises InputError where it cannot be written."""
        write_text(self.page, f"{self.before}{content}\n{self.after}")


def find_block(page: Path, name: str) -> Block:
    """Return the block of a page; raises InputError where it lacks the comments, once each."""
    text = read_text(page)
    begin, end = f"<!-- begin {name} -->\n", f"<!-- end {name} -->"
    if text.count(begin) != 1 or text.count(end) != 1 or text.index(end) < text.index(begin):
        message = f"it needs one line {begin.strip()} and after it one {end}"
        raise file_error("no-block", page, message)
    start = text.index(begin) + len(begin)
    return Block(page, text[:start], text[text.index(end) :])
