"""The example in `plugins`, installed into an environment of its own, as its README says."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "plugins" / "hpcsched-example"
COMMAND = "import sys; from hpcsched import cli; sys.exit(cli.main())"

SCENARIO = """\
name: example
system: {groups: [{name: node, count: 8, resources: {core: 1}}]}
trace: {source: swf, path: trace.swf}
predictor: {name: user-mean, history: 2}
dispatcher:
  name: lottery
  ticket_every: 1min
  allocator: coolest
observers: [temperature]
"""


class Environment:
    """A virtual environment that sees what this one has; nothing is fetched."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._python = folder / "venv" / "bin" / "python"
        kept = (k for k in os.environ if not k.startswith(("HPCSCHED_", "PIP_", "PYTHON")))
        self._variables = {name: os.environ[name] for name in kept}
        venv.create(folder / "venv", with_pip=False, symlinks=True)
        (site_packages,) = (folder / "venv").glob("lib/python*/site-packages")
        ours = sysconfig.get_path("purelib")
        (site_packages / "ours.pth").write_text(f"{ROOT}\nimport site; site.addsitedir({ours!r})\n")

    def run(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run Python, and return what it wrote and how it ended."""
        return subprocess.run(
            [str(self._python), *arguments],
            cwd=self._folder,
            env=self._variables | variables,
            capture_output=True,
            text=True,
            check=False,
        )

    def python(self, *arguments: str) -> str:
        """Run Python, which must end well, and return what it wrote."""
        done = self.run(*arguments)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def hpcsched(self, *arguments: str) -> str:
        """Run a command of hpcsched, which must end well, and return what it wrote."""
        return self.python("-c", COMMAND, *arguments)


def swf_line(job_id: int) -> str:
    """Return a record of one of three users."""
    units, run_time, user = 1 + job_id % 5, 20 + 7 * (job_id % 9), job_id % 3
    return f"{job_id} {10 * job_id} -1 {run_time} {units} -1 -1 {units} 90 -1 1 {user}" + " -1" * 6


def test_example(tmp_path: Path) -> None:
    """Installed, it is listed, in the schema, checked, run, verified, recorded and switched off."""
    pytest.importorskip("pip")
    pytest.importorskip("hatchling")
    environment = Environment(tmp_path)
    source = shutil.copytree(EXAMPLE, tmp_path / "source")
    offline = ("--no-index", "--no-deps", "--no-build-isolation", "--ignore-installed", "--quiet")
    environment.python("-m", "pip", "install", *offline, str(source))

    plugins = json.loads(environment.hpcsched("plugins", "list", "--format", "json"))
    ours = [p for p in plugins if p["distribution"] == "hpcsched-example"]
    assert [(p["kind"], p["name"], p["version"]) for p in ours] == [
        ("predictor", "user-mean", "0.2.0"),
        ("dispatcher", "headroom", "0.2.0"),
        ("dispatcher", "lottery", "0.2.0"),
        ("allocator", "coolest", "0.2.0"),
        ("observer", "temperature", "0.2.0"),
    ]
    schema = json.loads(environment.hpcsched("schema"))
    described = schema["definitions"]["DispatcherLottery"]["properties"]["ticket_every"]
    assert described["description"] == "Wait time for one more ticket."

    (tmp_path / "trace.swf").write_text("\n".join(map(swf_line, range(1, 61))))
    scenario = tmp_path / "scenario.yaml"
    scenario.write_text(SCENARIO.replace("1min", "0"), encoding="utf-8")
    validate = ("-c", COMMAND, "validate", "scenario.yaml")
    wrong = environment.run(*validate)
    assert wrong.returncode == 1
    assert "scenario.yaml:7:17: error: dispatcher.ticket_every: " in wrong.stdout

    scenario.write_text(SCENARIO, encoding="utf-8")
    environment.hpcsched("run", "scenario.yaml", "--out", "run")
    environment.hpcsched("verify", "run")
    assert "waited" in environment.hpcsched("longest-waits", "run")
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert summary["jobs"]["completed"] == 60
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    assert manifest["plugins"]["hpcsched-example"] == "0.2.0"

    without = environment.run(*validate, HPCSCHED_EXTERNAL_PLUGINS="0")
    assert without.returncode == 1
    assert "no dispatcher is called 'lottery'" in without.stdout
    assert "no predictor is called 'user-mean'" in without.stdout


def test_tests_of_the_example() -> None:
    """Its own tests pass, without it being installed."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=EXAMPLE,
        env=os.environ | {"PYTHONPATH": os.pathsep.join((str(EXAMPLE / "src"), str(ROOT)))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
