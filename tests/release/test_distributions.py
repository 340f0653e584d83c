"""Wheels and sdists of all distributions, installed in an environment of their own."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import time
import venv
from pathlib import Path

import nbformat
import pytest

from tests.docs.pages import NOTEBOOKS, ROOT, blocks
from tests.docs.reader import expect
from tests.docs.test_newcomer import commands

PLUGINS = ("hpcsched_example", "hpcsched_learned", "hpcsched_slurm")
TIMEOUT = 1800
"""Seconds for one command; an installation from a registry is the longest."""
LARGEST = 450
"""Megabytes that the core may take, with what it requires and without bytecode."""
TOOLS = ("bash", "cat", "cp", "env", "gzip", "head", "ls", "mkdir", "sh", "zcat")
"""Programs on the PATH beside those of the environment: no compiler is among them."""


def _run(*command: object, cwd: Path, path: str | None = None, code: int = 0) -> str:
    """Run a command outside the project, and return its output."""
    kept = ("PATH", "HOME", "TMPDIR", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_CONFIG_FILE")
    environment = {name: os.environ[name] for name in kept if name in os.environ}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=environment | ({} if path is None else {"PATH": path, "HOME": str(cwd)}),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert done.returncode == code, f"{command}\n{done.stdout}"
    return done.stdout


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Wheels and sdists: those of `make release`, or built here."""
    if "HPCSCHED_DIST" in os.environ:
        return Path(os.environ["HPCSCHED_DIST"])
    folder = tmp_path_factory.mktemp("dist")
    for source in (ROOT, *sorted((ROOT / "plugins").iterdir())):
        _run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, source, cwd=ROOT)
    return folder


class Clean:
    """An environment without pip and without a compiler, and an empty folder to work in."""

    def __init__(self, folder: Path, dist: Path) -> None:
        self.folder, self._dist = folder / "empty", dist
        self.folder.mkdir()
        self.environment = folder / "environment"
        venv.create(self.environment)
        tools = folder / "tools"
        tools.mkdir()
        for name in TOOLS:
            (tools / name).symlink_to(shutil.which(name) or name)
        self._path = f"{self.environment / 'bin'}:{tools}"

    def install(self, *requirements: str) -> None:
        """Install from wheels alone: ours from `dist`, of others the versions that are pinned."""
        pip = [sys.executable, "-m", "pip", "--python", self.environment / "bin" / "python"]
        options = ("--quiet", "--only-binary", ":all:", "--no-compile", "--find-links", self._dist)
        pinned = ("--constraint", ROOT / "constraints.txt")
        _run(*pip, "install", *options, *pinned, *requirements, cwd=self.folder, path=self._path)

    def run(self, command: str, code: int = 0) -> str:
        """Run a command of a shell in the empty folder."""
        return _run("bash", "-c", command, cwd=self.folder, path=self._path, code=code)


@pytest.fixture(scope="module")
def clean(dist: Path, tmp_path_factory: pytest.TempPathFactory) -> Clean:
    """An environment in which nothing is installed yet."""
    return Clean(tmp_path_factory.mktemp("clean"), dist)


@pytest.mark.slow
def test_the_core_installs_without_a_compiler(
    clean: Clean, capsys: pytest.CaptureFixture[str]
) -> None:
    """As large as stated, it replays, audits, writes pages; for files it names the extra."""
    began = time.monotonic()
    clean.install("hpcsched")
    seconds = time.monotonic() - began
    [site] = clean.environment.glob("lib/python*/site-packages")
    files = [path for path in site.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    size = sum(path.stat().st_size for path in files) / 1e6
    packages = len(list(site.glob("*.dist-info")))
    with capsys.disabled():
        sys.stdout.write(f"\ncore: {size:.0f} MB, {packages} packages, in {seconds:.0f} s\n")
    assert size <= LARGEST
    assert (site / "hpcsched" / "py.typed").is_file()
    clean.run("command -v cc c++ gcc g++ clang", code=1)

    (clean.folder / "scenario.yaml").write_text(
        "name: made-up\nsystem: eurora\ntrace: {source: eurora-like, jobs: 20}\n"
        "predictor: requested-time\ndispatcher: easy\n"
    )
    assert "20 completed" in clean.run("hpcsched run scenario.yaml --out run")
    assert "not ok" not in clean.run("hpcsched verify run")
    assert "300 completed" in clean.run("hpcsched try --example --jobs 300 --save tried")
    assert "wrote page.html" in clean.run("hpcsched report tried/runs --out page.html")
    assert "vegaEmbed" in (clean.folder / "page.html").read_text(encoding="utf-8")
    for kind in ("svg", "pdf", "png"):
        refused = clean.run(f"hpcsched plot ecdf run --out waits.{kind}", code=1)
        assert "to draw files install hpcsched[figures]" in refused


@pytest.mark.slow
def test_the_tutorial_in_an_empty_folder(clean: Clean) -> None:
    """With the extra, each command of it does what is shown."""
    clean.install("hpcsched[figures]")
    clean.run("hpcsched init examples")
    top = clean.folder
    try:
        for block in blocks(ROOT / "docs" / "tutorial.md"):
            if block.file is not None:
                (clean.folder / block.file).write_text(block.text, encoding="utf-8")
            elif block.language == "console" and block.is_run:
                for command in commands(block):
                    name, *rest = shlex.split(command.text)
                    if name == "cd":
                        clean.folder /= rest[0]
                    elif name != "source":
                        printed = clean.run(command.text, command.code)
                        if command.shown.strip():
                            expect(command.shown, printed, command.text)
        assert (clean.folder / "waits.svg").is_file()
    finally:
        clean.folder = top


@pytest.mark.slow
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda notebook: notebook.stem)
def test_a_notebook_in_an_empty_folder(notebook: Path, clean: Clean) -> None:
    """All cells run one after the other, and draw a figure."""
    clean.install("hpcsched[figures]", "ipykernel", "nbclient", "pandas")
    folder = clean.folder / notebook.stem
    folder.mkdir()
    copied = Path(shutil.copy(notebook, folder))
    clean.run(f"cd {folder.name} && jupyter execute --inplace {notebook.name}")
    outputs = [o for cell in nbformat.read(copied, 4).cells for o in cell.get("outputs", ())]
    assert any("image/png" in out.get("data", {}) for out in outputs)


@pytest.mark.slow
def test_plugins_are_found(clean: Clean) -> None:
    """Each of ours, after its wheel is installed."""
    clean.install("hpcsched", *(name.replace("_", "-") for name in PLUGINS))
    listed = clean.run("hpcsched plugins list")
    for name in PLUGINS:
        assert name.replace("_", "-") in listed


@pytest.mark.slow
def test_wheels_run_elsewhere(dist: Path) -> None:
    """Those of `make release` name the oldest C library that they need, where one can be named."""
    wheels = sorted(path.name for path in dist.glob("*.whl"))
    assert {name.partition("-")[0] for name in wheels} == {"hpcsched", *PLUGINS}
    if "HPCSCHED_DIST" in os.environ and sys.platform == "linux":
        [tag] = [re.search(r"-(manylinux\w+)", n) for n in wheels if n.startswith("hpcsched-")]
        assert tag is not None, wheels


@pytest.mark.slow
def test_sdists_hold_what_tests_need(dist: Path) -> None:
    """The sdist of hpcsched can be tested: it has the tests, scenarios and Makefile."""
    [sdist] = dist.glob("hpcsched-*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {
        "Makefile",
        "constraints.txt",
        "hpcsched/version.py",
        "scenarios/small-easy.yaml",
        "schemas/scenario.schema.json",
        "tests/release/test_distributions.py",
        "docs/develop/architecture.md",
    } <= names
