"""Choosing runs by path and name, alike in every command."""

from pathlib import Path

import pytest

from hpcsched import cli
from hpcsched.errors import InputError
from hpcsched.report.run_choice import one_run_folder, run_folder
from hpcsched.report.studied_runs import open_study
from tests.report.studies import pair, write_experiment, write_studied


def test_by_name_in_the_default_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run in `runs/` goes by its name; a path that exists goes before it."""
    monkeypatch.chdir(tmp_path)
    easy, sjf = pair(Path("runs"))
    assert run_folder(Path("sjf")) == sjf
    assert [one.run.path for one in open_study([Path("sjf"), Path("easy")]).runs] == [sjf, easy]
    Path("sjf").mkdir()
    assert run_folder(Path("sjf")) == Path("sjf")


def test_by_name_in_an_experiment(tmp_path: Path) -> None:
    """A name that tables show picks one run; one that several runs share is refused."""
    write_experiment(tmp_path)
    assert run_folder(tmp_path / "easy (ctc) (seed 1)") == tmp_path / "runs/easy-ctc-1"
    with pytest.raises(InputError, match=r"'easy' is the name of several runs.*\[unknown-run\]"):
        run_folder(tmp_path / "easy")
    with pytest.raises(InputError, match="'none' is none of these runs; there are: easy"):
        run_folder(tmp_path / "none")


def test_a_single_run(tmp_path: Path) -> None:
    """The only run of a folder is meant by it; of several, one has to be named."""
    alone = write_studied(tmp_path / "alone" / "run")
    assert one_run_folder(tmp_path / "alone") == one_run_folder(alone) == alone
    pair(tmp_path / "two")
    with pytest.raises(InputError, match=r"it holds 2 runs: .*/NAME of one of them: easy, sjf"):
        one_run_folder(tmp_path / "two")


def test_nothing_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A path in a folder without runs is left to whoever opens it."""
    monkeypatch.chdir(tmp_path)
    pair(Path("deeper/runs"))
    assert run_folder(Path("deeper/easy")) == Path("deeper/easy")
    assert run_folder(Path("easy")) == Path("easy")


@pytest.mark.parametrize("command", [["status"], ["explain", "1"], ["verify"], ["compare"]])
def test_in_every_command(
    command: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Each takes the name, and gets to that run."""
    monkeypatch.chdir(tmp_path)
    pair(Path("runs"))
    cli.main([command[0], "sjf", *command[1:]])
    out, err = capsys.readouterr()
    assert "sjf" in out + err
    assert "is not a directory" not in err
    assert cli.main([command[0], "fast", *command[1:]]) == 1
    there = "'fast' is none of these runs; there are: easy, sjf"
    assert there in capsys.readouterr().err
