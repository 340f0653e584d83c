"""The clock of compiled functions."""

from time import monotonic

import numpy as np
import pytest

from hpcsched.dispatching.core.clock import MONOTONIC, clock_gettime, seconds
from hpcsched.dispatching.core.compiled import plain


def test_in_python_it_reads_the_monotonic_clock() -> None:
    """A reading lies between two readings of Python's clock."""
    before = monotonic()
    now = plain(seconds)(np.zeros(2, dtype=np.int64))
    assert before <= now <= monotonic()


def test_the_c_function_is_for_compiled_code_only() -> None:
    """Python is told so, and gets no wrong time."""
    with pytest.raises(TypeError, match="only compiled code"):
        clock_gettime(MONOTONIC, None)
