"""A resolved scenario loads again to the same scenario."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from hpcsched.errors import InputError
from hpcsched.scenario import load_scenario, resolved_yaml
from hpcsched.scenario.document import StrictDumper
from hpcsched.scenario.resolved import dumped, read_partitions, read_resolved_values, read_system
from tests.fake_plugins import fake_registry
from tests.scenario.samples import write
from tests.strategies import tries

names = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,20}", fullmatch=True)
amounts = st.one_of(
    st.integers(1, 2**30),
    st.builds("{}{}".format, st.integers(1, 999), st.sampled_from(["GiB", "MB"])),
)
durations = st.one_of(st.integers(0, 10**6), st.sampled_from(["90s", "1h30min", "2d", "3 w"]))
groups = st.fixed_dictionaries(
    {
        "name": names,
        "count": st.integers(1, 1000),
        "resources": st.dictionaries(
            st.from_regex(r"[a-z][a-z0-9_]{0,5}", fullmatch=True), amounts, min_size=1, max_size=3
        ),
    }
)
orders = st.one_of(
    st.just("fcfs"),
    st.fixed_dictionaries({"name": st.just("weighted")}, optional={"weight": st.integers(0, 9)}),
)
lists = st.fixed_dictionaries(
    {"name": st.just("list")},
    optional={
        "order": orders,
        "option": st.sampled_from(["strict", "greedy"]),
        "depth": st.integers(1, 100) | st.none(),
        "seconds": st.floats(0, 1e300) | st.none(),
    },
)
dispatchers = st.recursive(
    st.just("easy") | lists,
    lambda inner: st.fixed_dictionaries(
        {
            "name": st.just("best-of"),
            "members": st.lists(st.fixed_dictionaries({}, optional={"use": inner}), max_size=3),
        }
    ),
    max_leaves=3,
)
traces = st.one_of(
    st.fixed_dictionaries(
        {"source": st.just("synthetic")},
        optional={"length": durations, "rates": st.lists(st.floats(0, 1e9), max_size=3)},
    ),
    st.fixed_dictionaries(
        {
            "source": st.just("file"),
            "path": st.sampled_from(
                ["a.swf", "/b/c d.swf", "${HPCSCHED_NOT_SET}/x", "../ü.gz", "010"]
            ),
            "unit": st.just({"core": 1}),
        }
    ),
)
scenarios = st.fixed_dictionaries(
    {
        "name": names,
        "system": st.fixed_dictionaries(
            {"groups": st.lists(groups, min_size=1, max_size=3, unique_by=lambda g: g["name"])}
        ),
        "trace": traces,
        "dispatcher": dispatchers,
    },
    optional={
        "seed": st.integers(0, 2**70),
        "description": st.text(st.characters(exclude_categories=["Cs"]), max_size=30),
        "predictor": st.sampled_from(["actual", {"name": "requested-time"}]),
        "objective": st.sampled_from(["makespan", {"name": "bounded_slowdown", "tau": "1min"}]),
        "observers": st.lists(st.just("progress"), max_size=2),
        "simulation": st.fixed_dictionaries({}, optional={"aggregate_nodes": st.booleans()}),
        "metrics": st.sampled_from([{}, {"percentiles": [5]}, {"class_bounds": ["1h", "1d"]}]),
    },
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for all examples."""
    return tmp_path_factory.mktemp("scenarios")


@given(data=scenarios)
@tries(60)
def test_resolved_scenarios_load_to_equal_scenarios(data: dict[str, Any], folder: Path) -> None:
    """Whatever a scenario says, its resolved form says the same, wherever it lies."""
    registry = fake_registry()
    path = write(folder, yaml.dump(data, Dumper=StrictDumper, allow_unicode=True))
    scenario = load_scenario(path, (), registry)
    text = resolved_yaml(scenario)
    (folder / "elsewhere").mkdir(exist_ok=True)
    again = load_scenario(write(folder / "elsewhere", text), (), registry)
    assert again == scenario
    assert resolved_yaml(again) == text


@pytest.mark.parametrize(
    "word", ["on", "1e3", "0o17", "010", "08", "1:30:00", "null", "", "<<", "~"]
)
def test_texts_that_look_like_something_else_are_quoted(word: str) -> None:
    """Readers of YAML 1.1 and of YAML 1.2 both find a text."""
    text = yaml.dump({"key": word}, Dumper=StrictDumper)
    assert yaml.safe_load(text) == {"key": word}
    assert text.startswith(("key: '", 'key: "'))


def test_the_system_of_a_resolved_scenario(tmp_path: Path) -> None:
    """The system is read without the plugins that the scenario names."""
    path = write(
        tmp_path,
        "dispatcher: of-nobody\n"
        "system:\n  groups:\n  - {name: node, count: 3, resources: {core: 4}}\n"
        "  shared_resources:\n  - {name: power, capacity: 7, draw: {per_job: 1}}\n",
    )
    system = read_system(path)
    assert (system.node_count, list(system.totals)) == (3, [12])
    assert [one.name for one in system.shared_resources] == ["power"]
    assert read_resolved_values(path)["dispatcher"] == "of-nobody"


def test_values_of_other_writers(tmp_path: Path) -> None:
    """A file in which keys do not begin lines is read as a whole."""
    for text in ("{a: {b: 1},\nc: [2]}", "# of old\na: {b: 1}\nc:\n- 2\n", "a:\n  b: 1\n\nc: [2]"):
        assert read_resolved_values(write(tmp_path, text)) == {"a": {"b": 1}, "c": [2]}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a: [", "while parsing"),
        ("- 1", "it holds no mapping"),
        ("a: 1", "the system cannot be read"),
        ("system: 1", "the system cannot be read"),
        ("system: {groups: []}", "the system cannot be read"),
    ],
)
def test_a_damaged_resolved_scenario(text: str, why: str, tmp_path: Path) -> None:
    """The file is named, with the reason."""
    path = write(tmp_path, text)
    with pytest.raises(InputError, match=rf"\.yaml: error: it is damaged: .*{why}"):
        read_system(path)


def test_partitions_of_a_resolved_scenario(tmp_path: Path) -> None:
    """They are read without the plugins of the scenario; damage is told by the file."""
    path = tmp_path / "scenario.yaml"
    path.write_text("partitions: [{name: gpu, jobs: {queue: [2]}, max_time: 60}]\n")
    (found,) = read_partitions(path)
    assert (found.name, found.jobs, found.max_time) == ("gpu", {"queue": frozenset({2})}, 60)
    path.write_text("name: none\n")
    assert not read_partitions(path)
    path.write_text("partitions: [{jobs: 7}]\n")
    with pytest.raises(InputError, match="the partitions cannot be read from it"):
        read_partitions(path)


texts = st.text(st.sampled_from("ab 0:-#'\"\\,[]{}&*!|>%@`?.~\n\té\u2028😀"), max_size=12)
texts |= st.sampled_from(["null", "yes", "1e3", "012", "12:30", "<<", "a " * 60, "k" * 130])
scalars = texts | st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False)
plain = st.recursive(
    scalars,
    lambda within: st.lists(within, max_size=4) | st.dictionaries(texts, within, max_size=4),
    max_leaves=12,
)


@tries(300)
@given(st.dictionaries(texts, plain, max_size=4))
def test_bytes_of_the_writer_in_python(values: dict[str, Any]) -> None:
    """YAML is written in C only where the bytes stay: addresses of cells are made of them."""
    options: Any = {"sort_keys": False, "allow_unicode": True, "width": 100}
    text = yaml.dump(values, Dumper=StrictDumper, default_flow_style=False, **options)
    assert dumped(values) == text
