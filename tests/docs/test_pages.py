"""What the pages show can be run, and does what they say."""

from pathlib import Path

import pytest
import typer

from hpcsched import cli
from tests.docs.pages import DOCS, PAGES, ROOT, blocks, reference
from tests.docs.reader import Reader, expect
from tests.real_traces import KTH_SP2, trace

NAMES = [str(page.relative_to(ROOT)) for page in PAGES]
SLOW = {
    "docs/constraint-programming.md": ("tests/dispatching/cp",),
    "docs/experiments.md": ("tests/studies/test_execution.py",),
    "docs/forecast.md": ("tests/studies/forecast",),
    "docs/instances.md": ("tests/studies/problems", "tests/docs/test_instances_page.py"),
    "docs/offline.md": ("tests/dispatching/offline",),
    "docs/order-search.md": ("tests/dispatching/search",),
    "docs/reports.md": ("tests/report",),
    "docs/slurm-site.md": (
        "plugins/hpcsched-slurm/tests/sites/test_slurm_example.py",
        "plugins/hpcsched-slurm/tests/sites/test_slurm_sites.py",
    ),
    "docs/workloads.md": ("tests/workload/synthetic",),
    "docs/workloads-models.md": ("tests/workload/synthetic",),
}
"""Pages whose commands take long, each with the tests that show sooner that they work."""
WITH_TRACES = [name for name in NAMES if any(b.needs_traces for b in blocks(ROOT / name))]
LANGUAGES = {"console", "python", "yaml", "json", "text"}


@pytest.fixture
def reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Reader:
    """A folder in which to follow a page."""
    return Reader(tmp_path, monkeypatch)


def marked(names: list[str]) -> list[object]:
    """Return pages as parameters of a test, those of `SLOW` marked as slow."""
    return [pytest.param(n, marks=pytest.mark.slow) if n in SLOW else n for n in names]


@pytest.mark.parametrize("name", marked(NAMES))
def test_page(name: str, reader: Reader) -> None:
    """Every block of the page can be run in its order, and prints what is shown."""
    for block in blocks(ROOT / name):
        if block.is_run and not block.needs_traces:
            reader.run(block)


@pytest.mark.parametrize("name", marked(WITH_TRACES))
def test_page_with_traces(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The blocks that need real traces can be run where these are at hand."""
    folder = trace(KTH_SP2).parent
    reader = Reader(tmp_path, monkeypatch)
    (tmp_path / "traces").symlink_to(folder)
    for block in blocks(ROOT / name):
        if block.needs_traces:
            reader.run(block)


def test_slow_pages_are_there() -> None:
    """Each is a page, and what is tested sooner is there too."""
    assert set(SLOW) <= set(NAMES)
    assert all((ROOT / path).exists() for paths in SLOW.values() for path in paths)


@pytest.mark.parametrize("name", NAMES)
def test_languages(name: str) -> None:
    """Every block says what it is, in a language that is run or plain text."""
    page = ROOT / name
    found = blocks(page)
    assert {block.language for block in found} <= LANGUAGES
    fences = page.read_text(encoding="utf-8").count("```")
    assert fences == 2 * len(found)


def test_every_command_is_described() -> None:
    """Each command of hpcsched is mentioned in the documentation."""
    pages = (page.read_text(encoding="utf-8") for page in DOCS.glob("*.md"))
    text = "".join(map(reference().make_page, pages))
    commands = typer.main.get_command(cli.app).commands
    for name, command in commands.items():
        for below in getattr(command, "commands", {"": None}):
            assert f"hpcsched {name} {below}".rstrip() in text


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        ("a\n", "a\n"),
        ("a\n...\nd\n", "a\nb\nc\nd\n"),
        ("a\n...\nd\n", "a\nd\n"),
        ("a ... c\n", "a b c  \n"),
    ],
)
def test_output_as_shown(shown: str, printed: str) -> None:
    """Dots stand for any lines, or any text within a line."""
    expect(shown, printed, "a command")


@pytest.mark.parametrize("printed", ["a\n", "a\nb\nc\n", "b\n", ""])
def test_output_unlike_what_is_shown(printed: str) -> None:
    """Any other output is a failure."""
    with pytest.raises(AssertionError, match="shown"):
        expect("a\nb\n", printed, "a command")


def test_the_scenario_in_the_readme_is_the_one_in_the_repository() -> None:
    """It means the same, and differs from the file in nothing but a comment."""
    shown = next(block.text for block in blocks(ROOT / "README.md") if block.language == "yaml")
    kept = (ROOT / "scenarios" / "small-easy.yaml").read_text(encoding="utf-8")
    assert yaml_lines(shown) == yaml_lines(kept)


def test_the_figure_in_the_readme_is_the_one_that_its_commands_draw(reader: Reader) -> None:
    """Text for text: a change of how Gantt charts look asks for a new figure."""
    for block in blocks(ROOT / "README.md"):
        if block.language == "console" and "plot gantt" in block.text:
            reader.run(block)
    figure = Path("docs", "figures", "two-dispatchers.svg")
    assert figure.read_text(encoding="utf-8") == (ROOT / figure).read_text(encoding="utf-8")


def yaml_lines(text: str) -> list[str]:
    """Return the lines of a YAML text without its comments."""
    return [line for line in text.strip().splitlines() if not line.startswith("#")]
