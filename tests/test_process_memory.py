"""Resident memory of processes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from hpcsched.process_memory import resident_memory

pytestmark = pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="there is no /proc")


def test_this_process() -> None:
    """Memory that is filled becomes resident."""
    before = resident_memory()
    assert before is not None
    filled = b"x" * (64 << 20)
    after = resident_memory(os.getpid())
    assert after is not None
    assert len(filled) <= after - before + (8 << 20)


def test_a_process_that_is_gone() -> None:
    """It has none."""
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    assert resident_memory(child.pid) is None
