"""The program that runs one cell ends with the one that started it."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hpcsched.studies.execution import PROGRAM

PATIENCE = 60


@pytest.mark.parametrize("when", ["at once", "later"])
def test_a_cell_ends_with_what_started_it(tmp_path: Path, when: str) -> None:
    """A run whose starter is gone stops, and says that it was interrupted."""
    (tmp_path / "long.yaml").write_text(
        "name: long\n"
        "system: {groups: [{name: node, count: 128, resources: {core: 1}}]}\n"
        "trace: {source: lublin99, jobs: 1000000}\n"
        "dispatcher: easy\n"
    )
    out = tmp_path / "out"
    command = [sys.executable, "-P", "-m", PROGRAM, str(tmp_path / "long.yaml"), str(out)]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        if when == "later":
            deadline = time.monotonic() + PATIENCE
            while not (out / "jobs.parquet").exists() and time.monotonic() < deadline:
                time.sleep(0.02)
            time.sleep(0.3)
        process.stdin.close()
        assert process.wait(PATIENCE) in {130, -signal.SIGINT}
    if when == "later":
        assert json.loads((out / "manifest.json").read_text())["status"] == "interrupted"
