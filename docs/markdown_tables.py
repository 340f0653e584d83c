"""Markdown as the reference pages have it: tables, and docstrings as paragraphs."""

from collections.abc import Iterable, Sequence


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table whose cells are Markdown, as those of `Table.as_markdown` are not."""
    lines = [header, ["---"] * len(header), *rows]
    escaped = ([cell.replace("|", "\\|") for cell in line] for line in lines)
    return "\n".join(f"| {' | '.join(line)} |" for line in escaped)


def paragraphs(text: str) -> str:
    """Return a docstring with each of its paragraphs in one line."""
    return "\n\n".join(" ".join(part.split()) for part in text.strip().split("\n\n"))
