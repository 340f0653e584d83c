"""Tables as Markdown."""

from collections.abc import Iterable, Sequence

MISSING = "–"
"""What stands for a value that is not there."""


def as_table(header: Sequence[str], rows: Iterable[Sequence[str]], words: int = 1) -> str:
    """Return a table; all columns but the first `words` hold numbers, and are aligned so."""
    lines = [header, ["---"] * words + ["---:"] * (len(header) - words), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
