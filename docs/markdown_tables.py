"""Markdown as the reference pages have it: tables, and docstrings as paragraphs."""

from collections.abc import Iterable, Sequence

from hpcsched.report.tables.report_table import Table


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    return Table.formatted(header, rows, words=len(header)).as_markdown()


def paragraphs(text: str) -> str:
    """Return a docstring with each of its paragraphs in one line."""
    return "\n\n".join(" ".join(part.split()) for part in text.strip().split("\n\n"))
