"""Lines of the Alea simulator's logs, by hand."""

import pytest

from hpcsched.workload.readers.alea import is_list_of_nodes, numbers_of
from hpcsched.workload.readers.policies import UnusableError
from hpcsched.workload.readers.quantities import WholeSeconds

LINE = b"1 5.5 -1 60.2 1 -1 -1 2 90 1024 1 2 3 4 5 6 -1 -1 {7,7} q 1:ppn=2"


def test_fields() -> None:
    """Times in whole seconds, other numbers as they are."""
    numbers = numbers_of(LINE, WholeSeconds("floor"))
    assert numbers == [1, 5, 60, 2, 90, 1024, 2, 3, 4, 6]


def test_what_is_no_line() -> None:
    """A fraction of a byte is none, whatever the policy for seconds."""
    with pytest.raises(UnusableError, match=r"expected whole numbers, found '10\.5'") as caught:
        numbers_of(LINE.replace(b"1024", b"10.5"), WholeSeconds("floor"))
    assert caught.value.reason == "malformed"
    assert is_list_of_nodes(b"{7,7}")
    assert not is_list_of_nodes(b"7,7")
