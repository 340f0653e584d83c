"""The stub of the compiled core says what the core has."""

from pathlib import Path

from nanobind.stubgen import StubGen

from hpcsched import _core

STUB = Path(__file__).parents[1] / "hpcsched" / "_core.pyi"


def test_the_stub_is_current() -> None:
    """`python -m nanobind.stubgen -m hpcsched._core -o hpcsched/_core.pyi` writes it anew."""
    made = StubGen(_core)
    made.put(_core)
    assert STUB.read_text(encoding="utf-8") == made.get()
