"""Resident memory of processes."""

from pathlib import Path

import pytest

from hpcsched.runs.observers import resident_memory

pytestmark = pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="there is no /proc")


def test_this_process() -> None:
    """Memory that is filled becomes resident."""
    before = resident_memory()
    assert before is not None
    filled = b"x" * (64 << 20)
    after = resident_memory()
    assert after is not None
    assert len(filled) <= after - before + (8 << 20)
