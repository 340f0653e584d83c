"""The systems that come with hpcsched: each loads, and has the totals that are published."""

import re
from pathlib import Path

import pytest

from hpcsched.scenario import load_scenario
from hpcsched.system.system import System

FOLDER = Path(__file__).parents[2] / "scenarios" / "systems"
FILES = sorted(FOLDER.glob("*.yaml"), key=lambda path: path.stem)
PUBLISHED = {
    "cerit-sc": (68, {"core": 2176}),
    "curie": (5544, {"core": 93312, "gpu": 288}),
    "eurora": (64, {"core": 1024, "gpu": 64, "mic": 64}),
    "eurora-2014": (64, {"core": 1024, "mem": 64 * 32 * 1024, "gpu": 64, "mic": 64}),
    "fugaku-sized": (158976, {"core": 7630848}),
    "gaia": (151, {"core": 2004, "gpu": 32}),
    "kit-forhlr2": (1173, {"core": 24048, "gpu": 84}),
    "kth-sp2": (100, {"core": 100}),
    "metacentrum": (495, {"core": 8412, "gpu": 100}),
    "openb": (1213, {"cpu_milli": 107018000, "gpu": 6_212_000}),
    "ricc": (1024, {"core": 8192, "mem": 12 * 1024}),
    "seth": (120, {"core": 480, "mem": 120 * 1024}),
    "summit-sized": (4608, {"core": 193536, "gpu": 27648}),
}
"""Nodes and totals, memory in the units of the file."""


def system(name: str, folder: Path) -> System:
    """Return a system as a scenario that names it has it."""
    path = folder / "scenario.yaml"
    path.write_text(
        f"name: s\nsystem: {name}\ntrace: {{source: swf, path: none.swf}}\ndispatcher: easy\n"
    )
    return load_scenario(path).system.build()


def test_every_file_is_checked_here() -> None:
    """No system is left out."""
    assert [path.stem for path in FILES] == sorted(PUBLISHED)


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_system_has_the_published_totals(name: str, tmp_path: Path) -> None:
    """Nodes, cores and accelerators are as many as published."""
    nodes, totals = PUBLISHED[name]
    found = system(name, tmp_path)
    assert found.node_count == nodes
    assert {k: found.totals[found.resource_types.index(k)] for k in totals} == totals


def test_gaia_has_gpus_in_as_many_nodes_as_published(tmp_path: Path) -> None:
    """What is published of Gaia's GPUs is how many nodes have any: 20."""
    groups = system("gaia", tmp_path).groups
    assert sum(group.count for group in groups if group.resources.get("gpu")) == 20


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_figures_have_a_source(path: Path) -> None:
    """The first comment says where the figures are from."""
    head = path.read_text().partition("groups:")[0]
    assert head.startswith("#")
    assert "# Source: " in head


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_capacities_are_whole_units(path: Path, tmp_path: Path) -> None:
    """Counting in units loses nothing of what nodes have; CERIT-SC loses a part of one."""
    found = system(path.stem, tmp_path)
    left = [
        group.resources[name] % unit
        for group in found.groups
        for name, unit in found.units.items()
        if name in group.resources
    ]
    assert path.stem == "cerit-sc" or not any(left)


def test_the_table_lists_every_system() -> None:
    """Names, nodes and cores in the README are those of the files."""
    rows = re.findall(
        r"^\| `(.*?)` \| ([\d,]+) \| ([\d,]+) \|", (FOLDER / "README.md").read_text(), re.M
    )
    listed = {name: (int(n.replace(",", "")), int(c.replace(",", ""))) for name, n, c in rows}
    assert listed == {
        name: (nodes, totals.get("core") or totals["cpu_milli"] // 1000)
        for name, (nodes, totals) in PUBLISHED.items()
    }
