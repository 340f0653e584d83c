"""The command runs a comparison, reports it, and says what is wrong."""

import pytest

from experiments.debs2024 import __main__ as command
from experiments.debs2024.table import as_markdown
from experiments.execution import Execution
from hpcsched.errors import PluginError
from tests.docs.pages import tables
from tests.experiments.samples import DECLARATION, write_declaration, written_comparison


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Return what runs the command on a small comparison: its code, its output, its messages."""
    monkeypatch.chdir(tmp_path)

    def run_it(*arguments, text=DECLARATION):
        path = write_declaration(tmp_path, text)
        code = command.main(["--declaration", str(path), *arguments])
        said = capsys.readouterr()
        return code, said.out, said.err.splitlines()

    return run_it


def test_a_comparison(run, tmp_path):
    """Each cell is a line; then come the table and the figures, and all is kept the next time."""
    code, out, lines = run("--jobs", "2")
    assert code == 0
    assert len(lines) == 6
    assert lines[0].startswith("[1/5] ")
    assert all(": done in " in line and "ms a decision" in line for line in lines[:5])
    (table,) = tables(out)
    assert [row[:2] for row in table[1:]] == [
        ["AF", "SJF+"],
        ["AF", "EASY"],
        ["P²SF", "REG"],
        ["P²SF", "SJF+"],
    ]
    assert table[3][3] == table[3][6] == "100.0 %"
    assert (tmp_path / "runs" / "small" / "table.md").read_text(encoding="utf-8") == out
    figures = tmp_path / "runs" / "small" / "figures"
    assert sorted(path.name for path in figures.iterdir()) == [
        f"figure-{n}.{kind}" for n in (1, 2) for kind in ("pdf", "png")
    ]

    code, again, lines = run("--only", "EASY")
    assert code == 0
    assert again == out
    assert {line.split(",")[0].split("] ")[1] for line in lines[:3]} == {
        "actual/REG: kept",
        "actual/EASY: kept",
        "requested-time/REG: kept",
    }


def test_a_cell_that_fails(run, tmp_path):
    """It is reported, the others are run, and the exit code is 1; a part of the jobs goes apart."""
    text = DECLARATION.replace("name: easy", "name: eazy")
    code, out, lines = run("--first", "5", "--only", "EASY", text=text)
    assert code == 1
    (failed,) = [line for line in lines if ": failed: " in line]
    assert "actual/EASY: failed: " in failed
    assert "no dispatcher is called 'eazy'" in failed
    assert lines[-1] == "1 of 3 runs failed"
    assert out.splitlines()[3] == "| AF | EASY | 97 % or so | – | – | – | – | – |"
    assert out.splitlines()[4].startswith("| P²SF | REG | – | 100.0 % | ")
    assert (tmp_path / "runs" / "small-first-5" / "actual" / "REG").is_dir()
    assert not (tmp_path / "runs" / "small").exists()


@pytest.mark.parametrize(
    ("arguments", "text", "message"),
    [
        (["--only", "none"], DECLARATION, "no run 'none'; there are: REG, SJF+, EASY"),
        ([], DECLARATION.replace("base.yaml", "lost.yaml"), "the file cannot be read"),
        ([], DECLARATION.replace("baseline: REG", "baseline: R"), "no run 'R' is declared"),
        (["--write-docs"], DECLARATION, "there is no complete run of REG in: actual, requested"),
    ],
)
def test_bad_input(run, arguments, text, message):
    """One line says what is wrong, and the exit code is 1."""
    code, out, lines = run(*arguments, text=text)
    assert (code, out, len(lines)) == (1, "", 1)
    assert message in lines[0]


def test_a_log_that_is_not_there(tmp_path, capsys):
    """It is said once, before any cell is run."""
    path = write_declaration(tmp_path)
    (tmp_path / "log.swf").unlink()
    assert command.main(["--declaration", str(path)]) == 1
    said = capsys.readouterr()
    assert len(said.err.splitlines()) == 1
    assert f"there is no file {tmp_path / 'log.swf'}" in said.err


def test_a_broken_plugin(run, monkeypatch):
    """It is named in one line."""

    def broken(_):
        raise PluginError("plugin there 1.0 is broken")

    monkeypatch.setattr("experiments.command.read_scenario", broken)
    assert run() == (1, "", ["plugin there 1.0 is broken"])


@pytest.mark.parametrize(
    "arguments",
    [
        ["--jobs", "0"],
        ["--first", "x"],
        ["--write-docs", "--first", "3"],
        ["--write-docs", "--again"],
    ],
)
def test_wrong_usage(run, arguments):
    """The exit code is 2."""
    code, out, lines = run(*arguments)
    assert (code, out) == (2, "")
    assert lines[-1].startswith("python -m experiments.debs2024: error: ")


def test_ctrl_c(run, monkeypatch):
    """The exit code is 130, and nobody sees a traceback."""

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Execution, "outcomes", interrupted)
    code, out, lines = run()
    assert (code, out) == (130, "")
    assert lines == ["interrupted; started again, it goes on from here"]


def test_the_docs(run, tmp_path, monkeypatch):
    """What complete runs came to goes into the page, and what is missing is named."""
    page = tmp_path / "page.md"
    page.write_text("<!-- begin small -->\n<!-- end small -->\n")
    monkeypatch.setattr(command, "PAGE", page)
    comparison = written_comparison(tmp_path)
    code, out, lines = run("--write-docs", "--out", "out")
    assert (code, out) == (0, "")
    assert lines == [
        f"wrote {page}",
        f"wrote {tmp_path / 'figures' / 'small' / 'figure-1.png'}",
        "not there, and shown so: requested-time/SJF+",
    ]
    assert as_markdown(comparison) in page.read_text(encoding="utf-8")
