"""Names of dispatchers that commands are given."""

import pytest

from hpcsched.errors import InputError
from hpcsched_slurm.site.writing import check_dispatcher


def test_names() -> None:
    """A known name passes; for another, the option and the nearest name are told."""
    check_dispatcher("joint-now", "--dispatcher")
    with pytest.raises(InputError) as caught:
        check_dispatcher("joint-nwo", "--dispatcher")
    assert str(caught.value) == (
        "error: --dispatcher: no dispatcher is called 'joint-nwo'; did you mean 'joint-now'?"
        " [unknown-plugin]"
    )
