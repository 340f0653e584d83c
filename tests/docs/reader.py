"""Runs the blocks of one page in one folder, as a reader would."""

import contextlib
import io
import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from hpcsched import cli
from hpcsched.scenario.document import parse_document
from hpcsched.scenario.loading import read_scenario
from hpcsched.scenario.models import Scenario
from hpcsched.scenario.review import missing_inputs, review
from hpcsched.studies.study_files import read_experiment
from tests.docs.pages import ROOT, Block

SETUP = ("git", "make", "pip", "pre-commit", "source")
"""Commands that change the machine are not run; a target of `make` must exist."""

BASE = ROOT / "scenarios" / "small-easy.yaml"
"""The scenario that a page's keys are put into."""


class Reader:
    """Follows a page: has a folder, an environment, and what the page has done so far."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch
        self._code = 0
        self._names: dict[str, object] = {"__name__": "__main__"}
        self._printed = ""
        self._folder = folder
        for name in ("scenarios", "schemas"):
            shutil.copytree(ROOT / name, folder / name)
        monkeypatch.setenv("HOME", str(folder))
        monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:/usr/bin:/bin")
        monkeypatch.delenv("HPCSCHED_TRACES", raising=False)
        monkeypatch.chdir(folder)

    def run(self, block: Block) -> None:
        """Run a block, and check what it shows."""
        if block.file is not None:
            Path(block.file).parent.mkdir(parents=True, exist_ok=True)
            Path(block.file).write_text(block.text, encoding="utf-8")
        match block.language:
            case "console":
                self._run_console(block.text)
            case "python":
                with contextlib.redirect_stdout(io.StringIO()) as out:
                    exec(compile(block.text, f"line {block.line}", "exec"), self._names)
                self._printed = out.getvalue()
            case "text" if block.follows is not None and block.follows.language == "python":
                expect(block.text, self._printed, f"the program before line {block.line}")
            case "yaml":
                self._check_yaml(block)
            case "json":
                json.loads(block.text)

    def _run_console(self, text: str) -> None:
        command, shown = "", ""
        for line in [*text.replace("\\\n", "").splitlines(), "$ "]:
            if not line.startswith("$ "):
                shown += f"{line}\n"
                continue
            if command == "echo $?":
                assert shown.strip() == str(self._code), f"exit code {self._code}"
                self._code = 0
            elif command:
                assert self._code == 0, f"{self._code} before {command!r}"
                printed = self._run_command(command)
                if shown:
                    expect(shown, printed, command)
            command, shown = line.removeprefix("$ ").strip(), ""
        assert self._code == 0, f"exit code {self._code}"

    def _run_command(self, command: str) -> str:
        words = shlex.split(command, comments=True)
        if words[0] in SETUP:
            if words[0] == "make":
                makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
                assert all(
                    re.search(rf"^{target}:", makefile, re.MULTILINE) for target in words[1:]
                )
            return ""
        if words[0] == "export":
            name, _, value = words[1].partition("=")
            self._monkeypatch.setenv(name, str(Path(value).expanduser()))
            return ""
        if words[0] == "cd":
            self._monkeypatch.chdir(words[1])
            return ""
        if words[0] != "hpcsched" or "|" in words:
            done = subprocess.run(
                command, shell=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                executable="/bin/bash", check=False,
            )  # fmt: skip
            self._code = done.returncode
            return done.stdout
        return self._run_hpcsched(words[1:])

    def _run_hpcsched(self, words: list[str]) -> str:
        """Run hpcsched within this process, which saves most of the time."""
        target = None
        if ">" in words:
            k = words.index(">")
            target, words = Path(words[k + 1]), words[:k]
        arguments = [
            name
            for word in words
            for name in (sorted(map(str, Path().glob(word))) if "*" in word else ()) or (word,)
        ]
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            self._code = cli.main(arguments)
        if target is not None:
            target.write_text(out.getvalue(), encoding="utf-8")
            return ""
        return out.getvalue()

    def _check_yaml(self, block: Block) -> None:
        value = parse_document(block.text).value
        assert isinstance(value, dict)
        if set(value) <= set(Scenario.model_fields):
            if block.file is not None:
                path = Path(block.file)
            else:
                path = self._folder / "scenarios" / f"of-line-{block.line}.yaml"
                whole = value if "name" in value else parse_document(BASE.read_text()).value | value
                text = block.text if whole is value else yaml.safe_dump(whole, sort_keys=False)
                path.write_text(text, encoding="utf-8")
            loaded = read_scenario(path)
            review(loaded)
            assert block.needs_traces or not missing_inputs(loaded)
            return
        if "scenario" in value:
            assert block.file is not None
            read_experiment(block.file, check=review)
            return
        assert block.file is not None, f"line {block.line}: neither a scenario nor a named file"
        for job in value.get("jobs", {}).values():  # a workflow of GitHub Actions
            for step in job["steps"]:
                if step.get("run", "").startswith("hpcsched"):
                    self._run_console(f"$ {step['run']}\n")
        hooks = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
        for repository in value.get("repos", ()):
            for hook in repository["hooks"]:
                assert f"- id: {hook['id']}\n" in hooks


def expect(shown: str, printed: str, what: str) -> None:
    """Fail unless what was printed is what is shown, `...` standing for anything."""
    pattern = ""
    for line in shown.strip("\n").splitlines():
        if line.strip() == "...":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += ".*?".join(re.escape(part) for part in line.rstrip().split("...")) + "\n"
    found = "".join(f"{line.rstrip()}\n" for line in printed.strip("\n").splitlines())
    assert re.fullmatch(pattern, found), f"{what}\nshown:\n{shown}\nprinted:\n{found}"
