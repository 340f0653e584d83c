"""A script uses plugins of modules that lie beside it and are not installed."""

import subprocess
import sys
from pathlib import Path

EASY = Path(__file__).parents[2] / "scenarios" / "small-easy.yaml"

LAST_FIRST = """
from hpcsched import KeyOrder, Plugin, hookimpl

def make(params, context):
    return KeyOrder(lambda job: -job.job.submit_time)

@hookimpl
def hpcsched_queue_orders():
    yield Plugin("last-first", "latest first", make)
"""

SCRIPT = """
import hpcsched
import {module}

hpcsched.register({module})
scenario = hpcsched.load_scenario({easy!r}, {{"dispatcher.order": "last-first", "trace.jobs": 50}})
print(len(hpcsched.replay(scenario).start_times))
"""


def run(folder: Path, module: str) -> subprocess.CompletedProcess[str]:
    """Run the script with a module of its folder."""
    (folder / "last_first.py").write_text(LAST_FIRST, encoding="utf-8")
    script = folder / "script.py"
    script.write_text(SCRIPT.format(module=module, easy=str(EASY)), encoding="utf-8")
    command = [sys.executable, str(script)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


def test_a_module_beside_a_script(tmp_path: Path) -> None:
    """Scenarios select its plugins once it is registered."""
    done = run(tmp_path, "last_first")
    assert (done.stdout, done.stderr) == ("50\n", "")


def test_a_module_that_registers_nothing(tmp_path: Path) -> None:
    """It is named."""
    assert "plugin json 2.0.9 registers nothing" in run(tmp_path, "json").stderr
