"""`--env`: variables of the environment that scenarios of others may use."""

from pathlib import Path

import pytest

from hpcsched import InputError, cli, load_scenario
from tests.cli.test_main import commands
from tests.scenario.samples import GOOD, write

SECRET = "hunter2"
PATH = "${DB_PASSWORD}/a.swf"
SYSTEM = GOOD[GOOD.index("system:") : GOOD.index("trace:")]


def test_every_command_that_reads_a_scenario_has_it() -> None:
    """Where values of a scenario can be set, variables can be allowed."""
    having = {
        option: {name for name, one in commands() if any(option in p.opts for p in one.params)}
        for option in ("--set", "--env")
    }
    assert having["--set"] == having["--env"]
    assert {"run", "validate", "experiment", "whatif", "tune", "live drive"} < having["--env"]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    """Return arguments of `validate` for each place of a variable."""
    monkeypatch.setenv("DB_PASSWORD", SECRET)
    (tmp_path / "vary.yaml").write_text(
        f"variants: [{{name: a, set: {{system: '{PATH}.yaml'}}}}]\n"
    )
    good = str(write(tmp_path))
    system = write(tmp_path, GOOD.replace(SYSTEM, f"system: '{PATH}.yaml'\n"), "system.yaml")
    return {
        "set": [good, "--set", f"system={PATH}.yaml"],
        "system": [str(system)],
        "vary": [good, "--vary", str(tmp_path / "vary.yaml")],
    }


@pytest.mark.parametrize("place", ["set", "system", "vary"])
def test_other_variables(
    place: str, files: dict[str, list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    """One that is not named is refused, and its value is told nowhere."""
    assert cli.main(["validate", *files[place]]) == 1
    told = "".join(capsys.readouterr())
    assert SECRET not in told
    assert "expected a variable whose name begins with HPCSCHED_, or that --env DB_PASSWORD" in told
    assert cli.main(["validate", *files[place], "--env", "DB_PASSWORD"]) == 1
    told = "".join(capsys.readouterr())
    assert "there is no file" in told
    assert f"/{SECRET}/a.swf.yaml" in told


def test_names_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is no name of a variable is wrong usage."""
    assert cli.main(["validate", str(write(tmp_path)), "--env", "A=1"]) == 2
    assert "expected the name of a variable, found 'A=1'" in capsys.readouterr().err


def test_in_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A variable is allowed for one scenario, and not for the next."""
    monkeypatch.setenv("NAME_OF_SYSTEM", "eurora")
    path = write(tmp_path, GOOD.replace(SYSTEM, "system: ${NAME_OF_SYSTEM}\n"))
    assert load_scenario(path, env=["NAME_OF_SYSTEM"]).system.groups[0].name == "gpu"
    with pytest.raises(InputError, match=r"in Python env=\['NAME_OF_SYSTEM'\]"):
        load_scenario(path)
