"""`--verbose` shows what the program logs."""

import logging

import pytest

from hpcsched import cli
from hpcsched.cli import show_logs


@pytest.mark.parametrize(("verbose", "shown"), [(False, 1), (True, 2)])
def test_levels(verbose: bool, shown: int, capsys: pytest.CaptureFixture[str]) -> None:
    """Warnings always show, information with --verbose, each once."""
    show_logs(verbose=verbose)
    show_logs(verbose=verbose)
    logging.getLogger("hpcsched.somewhere").warning("beware of %d", 1)
    logging.getLogger("hpcsched.somewhere").info("round 1")
    expected = ["warning: beware of 1", "round 1"]
    assert capsys.readouterr().err.splitlines() == expected[:shown]


def test_the_global_option() -> None:
    """It is given before the command; without it the next command is silent again."""
    level = logging.getLogger("hpcsched").getEffectiveLevel
    assert cli.main(["-v", "plugins", "list"]) == 0
    assert level() == logging.INFO
    assert cli.main(["plugins", "list"]) == 0
    assert level() == logging.WARNING
