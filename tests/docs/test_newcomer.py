"""The way of a newcomer, typed into a shell: from the first command to a report on a log."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.docs.pages import ROOT, Block, blocks
from tests.docs.reader import expect

WAY = ("README.md", "docs/tutorial.md", "docs/your-log.md")
NOT_TYPED = ("make test", "pip install")
"""The first would run this test, the second would change the environment that runs it."""
TIME_LIMIT = 900
"""For a machine that does other things too, in s."""


class Command(NamedTuple):
    """A command, the output shown for it, and the exit code that it must have."""

    text: str
    shown: str
    code: int


def commands(block: Block) -> list[Command]:
    """Return the commands of a block; one after which the exit code is shown must have that."""
    found: list[Command] = []
    for part in re.split(r"^\$ ", block.text.replace("\\\n", ""), flags=re.MULTILINE)[1:]:
        text, _, shown = part.partition("\n")
        if text == "echo $?":
            found[-1] = found[-1]._replace(code=int(shown))
        else:
            found.append(Command(text, shown, 0))
    return [command for command in found if not command.text.startswith(NOT_TYPED)]


def checkout(folder: Path) -> Path:
    """Copy what git has of the project, and give it the environment that runs this test."""
    project = folder / "project"
    listed = [
        "git",
        "-C",
        str(ROOT),
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ]
    names = subprocess.run(listed, capture_output=True, text=True, check=True).stdout
    for name in filter(None, names.split("\0")):
        if (ROOT / name).is_file():
            (project / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, project / name)
            # For make: the environment is newer than what it is made of.
            os.utime(project / name, (0, 0))
    (project / ".venv").symlink_to(sys.prefix)
    return project


@pytest.mark.slow
def test_from_the_first_command_to_a_report(tmp_path: Path) -> None:
    """Each command of the three pages does what is shown, one after the other, in one shell."""
    if not (Path(sys.prefix) / "installed").exists():
        pytest.skip("the environment of this test was not made by make")
    project = checkout(tmp_path)
    script, typed = [], []
    for page in WAY:
        script.append(f"cd {project}")
        for block in blocks(project / page):
            if block.file is not None:
                script.append(f"cat > {block.file} <<'END_OF_FILE'\n{block.text}END_OF_FILE")
            elif block.language == "console" and block.is_run and not block.needs_traces:
                for command in commands(block):
                    script.append(f"{command.text}\nprintf '\\n@@ %d @@\\n' $?")
                    typed.append(command)
    path = tmp_path / "typed.sh"
    path.write_text("\n".join(script), encoding="utf-8")
    environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(tmp_path)}
    done = subprocess.run(
        ["bash", path], env=environment | {"HPCSCHED_EXTERNAL_PLUGINS": "0"}, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=True,
        timeout=TIME_LIMIT,
    )  # fmt: skip
    parts = re.split(r"\n@@ (\d+) @@\n", done.stdout)
    assert len(parts) == 2 * len(typed) + 1, parts[-1]
    for command, printed, code in zip(typed, parts[::2], parts[1::2], strict=False):
        assert int(code) == command.code, f"{command.text}\n{printed}"
        if command.shown.strip():
            expect(command.shown, printed, command.text)
    assert typed[0].text == "make quickstart"
    report = (project / "mine" / "report.html").read_text(encoding="utf-8")
    assert "<html" in report
    assert "order-search" in report
