"""What is declared is consistent; what is wrong with a declaration is said once, with its line."""

import pytest

from comparisons.debs2024.declaration import read_presentation
from debs2024 import SHOWN as SHOWN_FILE
from hpcsched.errors import InputError
from tests.docs.reproduction import METRICS, region
from tests.experiments.samples import SHOWN, write_shown

DEBS = read_presentation(SHOWN_FILE)
SHARES = {
    "list, SPF": "List-SPF",
    "list, SAF": "List-SAF",
    "list, SJF": "List-SJF",
    "list, LAF": "List-LAF",
    "EASY": "EASY",
}


def test_every_objective_has_its_rows():
    """Each objective is compared with its off-line bound, its CP, EASY, lists and our search."""
    for name, target in DEBS.objectives.items():
        rows = {row.run for row in DEBS.table if row.objective == name}
        wanted = {f"CP-OFF-{name}", f"CP-{name}", f"order-search-{name}", "EASY", "List-REG"}
        assert wanted <= rows
        assert METRICS[target.title] == target.metric
        assert all(DEBS.run_named(run).objective in {None, name} for run in rows), (
            "a run is shown under the objective that it pursues"
        )


@pytest.mark.parametrize("row", region("shares")[1:], ids=lambda row: f"{row[0]} {row[1]}")
def test_what_the_paper_prints_is_what_the_page_has(row):
    """The declaration and the page were copied from the same table."""
    (objective,) = (name for name, target in DEBS.objectives.items() if target.title == row[0])
    for half, shown in (("actual", row[2]), ("requested-time", row[4])):
        printed = DEBS.printed(objective, SHARES[row[1]], half)
        assert printed is not None
        assert f"{printed.percent} %" == shown


@pytest.mark.parametrize("figure", DEBS.figures, ids=lambda figure: figure.name)
def test_bars_of_a_figure_can_be_told_apart(figure):
    """No two bars of a figure have the same colour, and the baseline is among them."""
    colours = [DEBS.run_named(label).colour for label in figure.runs]
    assert len(set(colours)) == len(colours)
    assert DEBS.baseline in figure.runs


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("baseline: REG", "baseline: RAG", 1, "no run 'RAG' is declared; there are: REG, SJF+, E"),
        ("objective: P2SF, run: REG", "objective: P3SF, run: REG", 1, "no objective 'P3SF'"),
        ("half: actual", "half: real", 1, "no half 'real' is declared; there are: actual"),
        ("label: EASY", "label: REG", 1, "the run 'REG' is declared twice"),
        ("run: REG}", "run: SJF+}", 1, "the row 'P2SF, SJF+' is declared twice"),
        ("name: figure-2", "name: figure-1", 1, "the figure 'figure-1' is declared twice"),
        ("label: EASY", "label: EA/SY", 9, "expected a text that matches"),
        ("colour: green", "colour: pink", 8, "expected one of black, orange, sky blue"),
        ("colour: green", "color: green", 8, "there is no key 'color' here; did you mean 'colo"),
        ("actual: 80", "actual: {}", 11, "expected a percentage, a note, or both"),
        ("baseline: REG", "baseline: [", 3, "not valid YAML"),
    ],
)
def test_a_bad_declaration(old, new, line, message, tmp_path):
    """What is wrong is said, with its line."""
    path = write_shown(tmp_path, SHOWN.replace(old, new, 1))
    with pytest.raises(InputError) as refused:
        read_presentation(path)
    found = [f for f in refused.value.findings if message in f.message]
    assert len(found) == 1
    assert found[0].place is not None
    assert found[0].place.file == str(path)
    assert found[0].place.line == line


def test_a_declaration_that_is_not_there(tmp_path):
    """A missing file is an input error."""
    with pytest.raises(InputError, match="cannot be read"):
        read_presentation(tmp_path / "none.yaml")
