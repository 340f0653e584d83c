"""What a build from a checkout needs beside Python packages: a compiler, and Python's headers."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
CHECK = ROOT / "hpcsched" / "cpp" / "require-compiler"


def program(folder: Path, name: str, script: str) -> None:
    """Write a program of the shell."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def check(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the check with the programs of a folder alone."""
    return subprocess.run(
        ["/bin/sh", CHECK, sys.executable],
        env={"PATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_compiler_is_found(tmp_path: Path) -> None:
    """Nothing is said where all is there."""
    program(tmp_path, "c++", "exit 0")
    done = check(tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_missing_package_is_named(tmp_path: Path) -> None:
    """A user who may not install packages is told which one is missing."""
    program(tmp_path, "id", "echo 1000")
    done = check(tmp_path)
    assert done.returncode == 1
    assert done.stderr.endswith("On Debian: apt-get install g++\n")


def test_root_on_debian_gets_it(tmp_path: Path) -> None:
    """Packages are installed without a question, and then the build goes on."""
    program(tmp_path, "id", "echo 0")
    program(tmp_path, "timeout", 'shift; exec "$@"')
    install = f'echo "$@" >> {tmp_path}/asked; [ "$1" = update ] || cp {tmp_path}/id {tmp_path}/g++'
    program(tmp_path, "apt-get", f"PATH={os.defpath}; {install}")
    done = check(tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "Installing g++, of which hpcsched is built.\n"
    asked = (tmp_path / "asked").read_text().splitlines()
    assert asked == ["update --quiet", "install --quiet --yes --no-install-recommends g++"]
