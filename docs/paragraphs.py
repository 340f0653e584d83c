"""Docstrings as Markdown."""


def paragraphs(text: str) -> str:
    """Return a docstring with each of its paragraphs in one line."""
    return "\n\n".join(" ".join(part.split()) for part in text.strip().split("\n\n"))
