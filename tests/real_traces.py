"""Where tests find the real traces, which are not part of the project."""

import os
from pathlib import Path

import pytest

FOLDER = "HPCSCHED_TRACES"
REQUIRED = "HPCSCHED_REQUIRE_TRACES"
"""Set to 1 where the traces must be at hand: their absence is then a failure, not a skip."""

KTH_SP2 = "KTH-SP2-1996-2.swf.gz"


def trace(name: str) -> Path:
    """Return a trace's file; skips the test, or fails it, where it is not at hand."""
    folder = os.environ.get(FOLDER, "")
    path = Path(folder, name).absolute()
    if folder and path.is_file():
        return path
    why = f"{FOLDER}={folder} names no folder with {name}"
    if os.environ.get(REQUIRED) == "1":
        pytest.fail(why)
    pytest.skip(why)
