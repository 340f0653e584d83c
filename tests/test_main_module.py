"""`python -m hpcsched` is the command `hpcsched`."""

import subprocess
import sys

from hpcsched import __main__, __version__, cli


def test_as_a_module() -> None:
    """It prints what the command prints, and ends with its exit code."""
    assert __main__.main is cli.main
    codes = {}
    for option in ("--version", "--bad"):
        done = subprocess.run(
            [sys.executable, "-m", "hpcsched", option], capture_output=True, text=True, check=False
        )
        codes[option] = done.returncode
        if option == "--version":
            assert done.stdout == f"hpcsched {__version__}\n"
        else:
            assert done.stderr.startswith("Usage: hpcsched [OPTIONS]")
    assert codes == {"--version": 0, "--bad": 2}
