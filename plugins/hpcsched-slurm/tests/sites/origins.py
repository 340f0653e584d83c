"""Blocks of a site without the files and lines that their comments name."""

import re

_ORIGIN = r"\w+\.(?:conf|txt):\d+(?:-\d+)?"


def without_origins(text: str) -> str:
    """Return YAML without the origins of settings in its comments."""
    text = re.sub(rf"  # {_ORIGIN}$", "", text, flags=re.M)
    return re.sub(rf"(?<=# ){_ORIGIN}, |, {_ORIGIN}| \({_ORIGIN}\)", "", text)
