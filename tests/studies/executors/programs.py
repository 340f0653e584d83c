"""Small programs in the place of the one that runs a cell."""

from pathlib import Path

import pytest

COPIES = """
import pathlib, sys
scenario, run, *overrides = sys.argv[1:]
run = pathlib.Path(run)
run.mkdir()
(run / "scenario.yaml").write_text(pathlib.Path(scenario).read_text())
(run / "overrides").write_text("\\n".join(overrides))
print("copied")
"""
"""A program that succeeds: it copies the scenario into the run directory."""

FAILS = """
import pathlib, sys
pathlib.Path(sys.argv[2]).mkdir()
print("a first line", flush=True)
print("  no licence  ", file=sys.stderr)
print()
raise SystemExit(4)
"""
"""A program that begins a run and fails, and says why in the last line that is not empty."""


def program(folder: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Write a program where Python finds it, and return the name of its module."""
    places = folder / "programs"
    places.mkdir(exist_ok=True)
    (places / "small_program.py").write_text(text)
    monkeypatch.setenv("PYTHONPATH", str(places))
    return "small_program"
