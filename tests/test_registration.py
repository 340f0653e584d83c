"""Packages that plugins need and that may be missing."""

import pytest

from hpcsched.errors import PluginError
from hpcsched.registration import OptionalPackage


def test_a_package_that_is_there() -> None:
    """There is nothing to say."""
    package = OptionalPackage("a solver", "json", "json", "x")
    assert package.missing() is None
    package.require()


def test_a_package_that_is_not_there() -> None:
    """The message says what needs it, and how to install it."""
    package = OptionalPackage("the solver deep", "no_such_module", "deep-solver", "deep")
    message = (
        "the solver deep: the package deep-solver is not installed; pip install 'hpcsched[deep]'"
    )
    assert package.missing() == message
    with pytest.raises(PluginError) as raised:
        package.require()
    assert str(raised.value) == message
