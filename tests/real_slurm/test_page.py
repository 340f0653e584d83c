"""The steps of the page about Slurm work as they stand, on a real one."""

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.real_slurm.cluster import SlurmCluster
from tests.real_slurm.driving import PROGRAM, ROOT, environment

PAGE = ROOT / "docs" / "slurm-live.md"
_BLOCK = re.compile(r"<!-- not run: tests/real_slurm runs it -->\n\n```console\n(.*?)```", re.S)
_COMMANDS = {
    "hpcsched": PROGRAM,
    "hpcsched-slurm-release": (
        "import sys\nfrom hpcsched_slurm.release import main\nsys.exit(main())\n"
    ),
}


def test_steps(slurm: SlurmCluster, tmp_path: Path) -> None:
    """Each command of the page succeeds, with the paths of this Slurm in place of the page's."""
    bin_ = tmp_path / "bin"
    bin_.mkdir()
    programs = tmp_path / "programs"
    programs.mkdir()
    for k, (name, code) in enumerate(_COMMANDS.items()):
        program = programs / f"program_{k}.py"  # a name that hides no module
        program.write_text(code)
        script = bin_ / name
        script.write_text(f'#!/bin/sh\nexec {sys.executable} {program} "$@"\n')
        script.chmod(0o755)
    here = {
        "SOCKET": str(slurm.socket),
        "HISTORY": str(slurm.history),
        "PARTITION": "main",
        "PATH": f"{bin_}{os.pathsep}{os.environ['PATH']}",
    }
    commands = [
        line.removeprefix("$ ")
        for block in _BLOCK.findall(PAGE.read_text())
        for line in block.splitlines()
        if line.startswith("$ ")
    ]
    settings = [line for line in commands if line.startswith("export ")]
    assert {line.split()[1].partition("=")[0] for line in settings} == set(here) - {"PATH"}
    steps = [line for line in commands if not line.startswith("export ")]
    assert len(steps) >= 6
    for held in range(3):
        slurm.submit(2 + held, "--mem=1000", "--time=1")
    try:
        done = subprocess.run(
            ["bash", "-e", "-x", "-c", "\n".join(steps)],
            env=environment(slurm) | here,
            cwd=tmp_path, capture_output=True, text=True, check=False, timeout=400,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
    finally:
        slurm.run("scancel", "--user=root")
    assert "would start on" in done.stdout
    assert "jobs released to Slurm" in done.stdout
