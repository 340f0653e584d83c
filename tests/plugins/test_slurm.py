"""The plugin `hpcsched-slurm`: its own tests; those on a real Slurm are in `tests/real_slurm`."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
SLURM = ROOT / "plugins" / "hpcsched-slurm"


def test_its_tests() -> None:
    """They pass, without the plugin being installed."""
    paths = os.pathsep.join((str(SLURM / "src"), str(ROOT)))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=SLURM,
        env=os.environ | {"PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
