"""The command shows a finished experiment, and says what is wrong."""

import pytest

import debs2024 as command
from comparisons.debs2024.table import as_markdown
from hpcsched import cli
from tests.docs.pages import tables
from tests.experiments.samples import (
    SHOWN,
    write_experiment,
    write_shown,
    written_comparison,
    written_out,
)
from tests.studies.experiment_samples import run_cells_here


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Return what runs the command, which has a page: its code, its output, its messages."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "page.md").write_text("nothing\n")
    monkeypatch.setattr(command, "PAGE", tmp_path / "page.md")

    def run_it(*arguments, text=SHOWN):
        code = command.main(["--shown", str(write_shown(tmp_path, text)), *arguments])
        said = capsys.readouterr()
        return code, said.out, said.err.splitlines()

    return run_it


def test_from_a_declaration_to_a_table(run, tmp_path, monkeypatch, capsys):
    """What `hpcsched experiment` ran is shown, and what it did not run is named."""
    run_cells_here(monkeypatch)
    write_experiment(tmp_path)
    assert cli.main(["experiment", "small.yaml", "--only", "actual", "--set", "trace.jobs=9"]) == 0
    capsys.readouterr()
    code, out, lines = run("runs/small")
    assert code == 0
    (table,) = tables(out)
    assert [row[:2] for row in table[1:]] == [
        ["AF", "SJF+"],
        ["AF", "EASY"],
        ["P²SF", "REG"],
        ["P²SF", "SJF+"],
    ]
    assert table[3][3] == "100.0 %"
    assert table[3][6] == "–"
    folder = tmp_path / "runs" / "small"
    assert (folder / "tables.md").read_text(encoding="utf-8") == out
    assert sorted(path.name for path in (folder / "figures").iterdir()) == [
        "figure-1.pdf",
        "figure-1.png",
    ]
    assert lines == [
        "tables in runs/small/tables.md, pictures in runs/small/figures",
        "not there, and shown so: requested-time_AF_REG, requested-time_AF_SJF",
    ]


def test_many_are_missing(run, tmp_path, monkeypatch, capsys):
    """The first ones are named, and the others counted."""
    run_cells_here(monkeypatch)
    write_experiment(tmp_path)
    only = ["--only", "actual", "--only", "AF", "--only", "SJF", "--set", "trace.jobs=9"]
    assert cli.main(["experiment", "small.yaml", *only]) == 0
    capsys.readouterr()
    code, _, lines = run("runs/small")
    assert code == 0
    assert lines[-1].startswith("not there, and shown so: ")
    assert lines[-1].count(", ") == 3
    assert lines[-1].endswith(" more")


@pytest.mark.parametrize(
    ("arguments", "text", "message"),
    [
        (["none"], SHOWN, "it has no experiment.json"),
        ([], SHOWN, "runs/debs2024: error: it has no experiment.json"),
        (["out"], SHOWN.replace("baseline: REG", "baseline: R"), "no run 'R' is declared"),
        (["out", "--write-docs"], SHOWN, "it needs one line <!-- begin debs2024 -->"),
    ],
)
def test_bad_input(run, tmp_path, arguments, text, message):
    """One line says what is wrong, and the exit code is 1."""
    written_out(tmp_path)
    code, out, lines = run(*arguments, text=text)
    assert (code, out, len(lines)) == (1, "", 1)
    assert message in lines[0]


def test_wrong_usage(run):
    """The exit code is 2."""
    code, out, lines = run("--first", "3")
    assert (code, out) == (2, "")
    assert lines[-1].startswith("python experiments/debs2024.py: error: ")


def test_help(run):
    """It is no failure, and says what makes the runs."""
    code, out, _ = run("--help")
    assert code == 0
    assert "hpcsched experiment" in out


BEFORE, AFTER = "# A page\n\n<!-- begin debs2024 -->\n", "<!-- end debs2024 -->\n\nMore.\n"


def test_the_docs(run, tmp_path, monkeypatch):
    """Table, effort and whole figures go into the page's block, however often; no more changes."""
    comparison = written_comparison(tmp_path)
    page = tmp_path / "docs" / "page.md"
    page.parent.mkdir()
    page.write_text(f"{BEFORE}old\n{AFTER}", encoding="utf-8")
    monkeypatch.setattr(command, "PAGE", page)
    picture = page.parent / "figures" / "debs2024" / "figure-1.png"
    for _ in range(2):
        assert run("out", "--write-docs") == (
            0,
            "",
            [
                f"wrote {page}",
                f"wrote {picture}",
                "not there, and shown so: requested-time_AF_SJF",
            ],
        )
        text = page.read_text(encoding="utf-8")
        assert text.startswith(f"{BEFORE}{as_markdown(comparison)}\n\nThe 4 runs took 6 min, ")
        assert text.endswith(
            f", added up.\n\n![Figure 1: Of AF](figures/debs2024/figure-1.png)\n{AFTER}"
        )
        assert picture.read_bytes().startswith(b"\x89PNG")
    assert not (tmp_path / "out" / "tables.md").exists()
