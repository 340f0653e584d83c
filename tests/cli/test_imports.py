"""What is imported: short commands do without the packages that take long to import."""

import subprocess
import sys
from pathlib import Path

import pytest

import hpcsched
from hpcsched import cli

SMALL = Path(hpcsched.__file__).parents[1] / "scenarios" / "small-easy.yaml"
ARRAYS = {"numpy", "pyarrow"}


def imported(code: str) -> set[str]:
    """Return the modules that a new interpreter has after some code."""
    code += "; import sys; print(); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


def of_command(*arguments: object) -> set[str]:
    """Return the modules that a process has after a command, which succeeds."""
    given = [str(argument) for argument in arguments]
    return imported(f"from hpcsched.cli import main; assert main({given}) == 0")


def test_scenarios_without_arrays() -> None:
    """All that reads and checks scenarios, as models and files."""
    folder = Path(hpcsched.__file__).parent
    modules = [
        ".".join(path.relative_to(folder.parent).with_suffix("").parts)
        for path in (folder / "scenario").rglob("*.py")
    ]
    assert not ARRAYS & imported("import " + ", ".join(modules))


@pytest.mark.parametrize(
    "kind", ["dispatcher", "queue_order", "allocator", "solver", "predictor", "correction"]
)
def test_parameters_without_implementations(kind: str) -> None:
    """The models of all parameters of a kind, and the functions that review them."""
    code = (
        "from hpcsched.plugins.manager import build_registry;"
        f" assert build_registry(external=False).of_kind({kind!r})"
    )
    assert not {*ARRAYS, "hpcsched._core"} & imported(code)


def test_a_command_imports_what_it_needs(tmp_path: Path) -> None:
    """Neither other commands, nor tables where there are none: a status is two files of JSON."""
    run = tmp_path / "run"
    assert "pandas" not in of_command("run", SMALL, "--set", "trace.jobs=5", "--out", run)
    shown = of_command("status", run)
    assert not {*ARRAYS, "hpcsched.cli.run_commands", "hpcsched.scenario"} & shown
    # The parts of a scenario are built, and a dispatcher has arrays.
    assert "pyarrow" not in of_command("validate", SMALL)


def test_models_are_built_as_their_plugins_are_named() -> None:
    """The scenario names `easy`: the parameters of other dispatchers get no validator."""
    imported(
        "from hpcsched import load_scenario;"
        " from hpcsched.dispatching.rules import rule_params;"
        f" chosen = type(load_scenario({str(SMALL)!r}).dispatcher);"
        " assert issubclass(chosen, rule_params.EasyParams) and chosen.__pydantic_complete__;"
        " assert not rule_params.ConservativeParams.__pydantic_complete__"
    )


def test_commands_are_suggested(capsys: pytest.CaptureFixture[str]) -> None:
    """A command that does not exist is compared with all that do, imported or not."""
    assert cli.main(["statsu"]) == 2
    assert "Did you mean 'status'?" in capsys.readouterr().err
