"""What a transform needs to know of where it is used."""

from typing import Protocol

from hpcsched.system.system import System


class Context(Protocol):
    """A part of the context that plugins are given."""

    @property
    def system(self) -> System:
        """The system that the jobs ask for room on."""

    @property
    def seed(self) -> int:
        """What all random numbers follow from."""
