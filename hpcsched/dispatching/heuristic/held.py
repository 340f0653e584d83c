"""What a reservation holds, in a form that outlasts the round in which it was made."""

from typing import NamedTuple

from hpcsched.system.allocation import Allocation


class Held(NamedTuple):
    """A reservation: from when on, in seconds, and on which nodes; None where slots are counted."""

    start: int
    allocation: Allocation | None = None
