"""The plugin `hpcsched-learned`: its own tests, and that it can be installed and chosen."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.plugins.test_example import Environment
from tests.real_traces import KTH_SP2, trace

ROOT = Path(__file__).parents[2]
LEARNED = ROOT / "plugins" / "hpcsched-learned"


def run_its_tests(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the plugin's own tests, without it being installed."""
    paths = os.pathsep.join((str(LEARNED / "src"), str(ROOT)))
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments],
        cwd=LEARNED,
        env=os.environ | {"PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )


def test_its_tests() -> None:
    """They pass."""
    pytest.importorskip("sklearn")
    pytest.importorskip("gymnasium")
    done = run_its_tests()
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_its_tests_on_real_logs() -> None:
    """It is better than `last-two` on both logs."""
    pytest.importorskip("sklearn")
    trace(KTH_SP2)
    trace("CERIT-SC-2013.swf.gz")
    done = run_its_tests("-m", "slow")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 passed" in done.stdout


@pytest.mark.slow
def test_installed(tmp_path: Path) -> None:
    """Installed, it is listed, and the schema describes its parameters."""
    pytest.importorskip("pip")
    pytest.importorskip("hatchling")
    environment = Environment(tmp_path)
    source = shutil.copytree(LEARNED, tmp_path / "source")
    offline = ("--no-index", "--no-deps", "--no-build-isolation", "--ignore-installed", "--quiet")
    environment.python("-m", "pip", "install", *offline, str(source))
    plugins = json.loads(environment.hpcsched("plugins", "list", "--format", "json"))
    ours = [p for p in plugins if p["distribution"] == "hpcsched-learned"]
    assert [(p["kind"], p["name"], p["version"]) for p in ours] == [
        ("predictor", "learned", "0.2.0"),
        ("queue_order", "policy", "0.2.0"),
    ]
    schema = json.loads(environment.hpcsched("schema"))
    described = schema["definitions"]["PredictorLearned"]["properties"]["quantile"]
    assert described["description"].startswith("Predicted quantile of the run time")
