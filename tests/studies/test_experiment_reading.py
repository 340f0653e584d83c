"""Reading experiments: cells, addresses, seeds, and what is said of bad files."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hpcsched import cli
from hpcsched.errors import InputError
from hpcsched.plugins.manager import registry
from hpcsched.scenario import load_scenario
from hpcsched.studies import cell as cell_module
from hpcsched.studies.cell import make_cells, replica_seed
from hpcsched.studies.study_files import is_experiment, read_experiment
from tests.studies.experiment_samples import EXPERIMENT, JOBS, read_sample, write_sample

SMALL = load_scenario(Path(__file__).parents[2] / "scenarios" / "small-easy.yaml")


def test_cells_are_the_scenarios_that_they_say(tmp_path: Path) -> None:
    """Each cell has its values, its name and the base's seed."""
    experiment = read_sample(tmp_path)
    assert [cell.name for cell in experiment.cells] == ["none_5", "none_9", "sjf_5", "sjf_9"]
    assert [cell.scenario.trace.jobs for cell in experiment.cells] == [5, 9, 5, 9]
    last = experiment.cells[-1]
    assert last.scenario.dispatcher.plugin_name == "list"
    assert last.scenario.dispatcher.order.plugin_name == "sjf"
    assert dict(last.labels) == {"dispatcher": "sjf", "trace.jobs": "9"}
    assert {cell.scenario.seed for cell in experiment.cells} == {7}
    assert [file.key for file in last.files] == ["trace.path"]


def test_set_applies_to_all_cells_and_the_command_line_after_it(tmp_path: Path) -> None:
    """A value of `--set` replaces one of `set`, and an axis may reach into what is set."""
    text = EXPERIMENT.replace("matrix:", "set: {seed: 3, predictor: last-two}\nmatrix:")
    experiment = read_experiment(write_sample(tmp_path, text), ["seed=4"])
    assert {cell.scenario.seed for cell in experiment.cells} == {4}
    assert {cell.scenario.predictor.plugin_name for cell in experiment.cells} == {"last-two"}


def test_an_override_of_what_an_axis_varies_is_refused(tmp_path: Path) -> None:
    """Else all positions of the axis would be the same."""
    path = write_sample(tmp_path)
    for text in ("dispatcher=easy", "trace={source: swf, path: log.swf}", "name=x"):
        with pytest.raises(InputError, match="bad-override"):
            read_experiment(path, [text])
    assert len(read_experiment(path, ["trace.zero_run_time=keep"]).cells) == 4


@pytest.mark.parametrize("axis", ["system.groups.node.count", "'system.groups[0].count'"])
@pytest.mark.parametrize(
    "setting", ["system.groups.0.count", "system.groups.node", "system.groups"]
)
def test_a_place_may_have_several_names(tmp_path: Path, axis: str, setting: str) -> None:
    """An item of a list is the same by its name and by its position."""
    path = write_sample(tmp_path, EXPERIMENT.replace("trace.jobs", axis))
    with pytest.raises(InputError, match=r"this undoes system\.groups.*count, which is set before"):
        read_experiment(path, [f"{setting}=3"])
    assert len(read_experiment(path, ["system.groups[0].resources.core=3"]).cells) == 4
    twice = EXPERIMENT.replace("trace.jobs", axis) + f"  - {setting}: [1]\n"
    with pytest.raises(InputError, match=r"tiny\.yaml:7:5: error: this undoes"):
        read_experiment(write_sample(tmp_path, twice))


def test_variables_of_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An axis cannot show a variable of the environment that nobody named."""
    monkeypatch.setenv("TOKEN", "secret")
    path = write_sample(
        tmp_path, "name: e\nscenario: base.yaml\nmatrix: [{system: ['${TOKEN}', eurora]}]\n"
    )
    with pytest.raises(InputError, match="begins with HPCSCHED_") as caught:
        read_experiment(path)
    assert "secret" not in str(caught.value)


def test_replicas_have_spawned_seeds(tmp_path: Path) -> None:
    """The first has the scenario's own; more of them leave those that were there as they are."""
    two = read_sample(tmp_path, f"{EXPERIMENT}replicas: 2\n").cells
    three = read_sample(tmp_path, f"{EXPERIMENT}replicas: 3\n").cells
    assert [cell.replica for cell in three[:3]] == [1, 2, 3]
    assert {cell.address for cell in two} < {cell.address for cell in three}
    assert [cell.scenario.seed for cell in three[:3]] == [7, replica_seed(7, 2), replica_seed(7, 3)]
    assert len({replica_seed(seed, k) for seed in range(20) for k in range(1, 20)}) == 20 * 19
    assert replica_seed(0, 2) == 692121704799712
    assert all(0 <= replica_seed(seed, 2) < 2**53 for seed in range(100))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("", "", "to all cells, such as none_5: their 2 replicas will be equal runs"),
        ("{name: list, order: sjf}", "order-search", "to 2 of 4 cells, such as none_5:"),
        (
            "- trace.jobs: [5, 9]",
            "- trace.transforms: [[{name: jitter, by: 60}]]",
            None,
        ),
        ("replicas: 2", "replicas: 1", None),
    ],
)
def test_replicas_of_cells_without_chance(
    old: str,
    new: str,
    said: str | None,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """They would be equal runs, which is said before they are run."""
    path = write_sample(tmp_path, f"{EXPERIMENT}replicas: 2\n".replace(old, new))
    assert cli.main(["validate", str(path)]) == 0
    found = capsys.readouterr().out
    if said is None:
        assert "equal-replicas" not in found
        return
    assert found.startswith(f"{path}:7:11: warning: replicas: the seed makes no difference {said}")
    assert cli.main(["validate", "--strict", str(path)]) == 1


def test_the_command_warns_of_equal_replicas(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the first cell is run."""
    path = write_sample(tmp_path, f"{EXPERIMENT}replicas: 2\n")
    monkeypatch.setattr("hpcsched.cli.run_commands.run_in_folder", lambda *_, **__: 0)
    assert cli.main(["experiment", str(path), "--out", str(tmp_path / "out")]) == 0
    assert capsys.readouterr().err.startswith(f"{path}:7:11: warning: replicas: the seed makes no")


def test_the_address_is_of_all_that_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scenario, trace, versions: each change gives another address, and nothing else does."""

    def addresses(text: str = EXPERIMENT) -> list[str]:
        return [cell.address for cell in read_experiment(write_sample(tmp_path, text)).cells]

    before = addresses()
    assert len(set(before)) == 4
    assert addresses(f"# a comment\n{EXPERIMENT}description: others\n") == before
    assert not set(addresses(f"{EXPERIMENT}set: {{seed: 8}}\n")) & set(before)
    with monkeypatch.context() as context:
        context.setattr(cell_module, "package_versions", lambda: {"hpcsched": "0"})
        assert not set(addresses()) & set(before)
    write_sample(tmp_path)
    (tmp_path / "log.swf").write_text(JOBS + "; a comment more\n")
    changed = [cell.address for cell in read_experiment(tmp_path / "tiny.yaml").cells]
    assert not set(changed) & set(before)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["a", "b"])), min_size=2, max_size=6))
def test_addresses_differ_where_scenarios_do(variants: list[tuple[int, str]]) -> None:
    """Two cells have one address exactly where seed and name are equal."""
    addresses = []
    for seed, name in variants:
        changed = SMALL.model_copy(update={"seed": seed, "name": name})
        addresses.append(next(make_cells({}, [name], changed, registry())).address)
    assert len(set(addresses)) == len(set(variants))
    assert [variants.index(variant) for variant in variants] == [
        addresses.index(address) for address in addresses
    ]


def test_solvers_count_where_one_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new version of a solver changes the address of those cells alone that have one."""
    cells = read_sample(tmp_path, EXPERIMENT.replace("reject,", "joint-now,")).cells

    def again() -> list[str]:
        return [
            next(make_cells(cell.labels, [cell.name], cell.scenario, registry())).address
            for cell in cells
        ]

    assert again() == [cell.address for cell in cells]
    monkeypatch.setattr(cell_module, "solver_versions", lambda: {"ortools": "0"})
    found = [a == cell.address for a, cell in zip(again(), cells, strict=True)]
    assert found == [False, False, True, True]


def test_an_experiment_is_told_from_a_scenario(tmp_path: Path) -> None:
    """By its keys; what cannot be read is none."""
    path = write_sample(tmp_path)
    assert is_experiment(path)
    assert not is_experiment(tmp_path / "base.yaml")
    assert not is_experiment(tmp_path / "log.swf")
    assert not is_experiment(tmp_path / "nothing.yaml")


BAD = {
    "axis value": (
        "order: sjf",
        "order: sjff",
        "4:46: error: dispatcher.order: no queue order is called 'sjff'; did you mean 'sjf'?",
    ),
    "key in an axis value": (
        "order: sjf",
        "ordr: sjf",
        "4:39: error: dispatcher.ordr: there is no key 'ordr' here; did you mean 'order'?",
    ),
    "number in an axis": ("[5, 9]", "[5, 0]", "6:21: error: trace.jobs: expected a value of at"),
    "path that leads nowhere": (
        "trace.jobs",
        "seed.jobs",
        "6:5: error: seed is 7 and not a mapping, so 'jobs' cannot be set within it",
    ),
    "no key path": ("trace.jobs:", '".":', "6:10: error: matrix[1].\".\": '.' is not a key path"),
    "value of set": (
        "matrix:",
        "set: {trace.zero_run_time: none}\nmatrix:",
        "3:28: error: trace.zero_run_time: expected 'skip' or 'keep', found 'none'",
    ),
    "unlike lengths": (
        "names: [none, sjf]",
        "seed: [1, 2, 3]",
        "5:11: error: matrix[0].seed: expected a list of 2 items, as dispatcher has, found 3",
    ),
    "too few names": (
        "[none, sjf]",
        "[none]",
        "5:12: error: matrix[0].names: expected a list of 2",
    ),
    "label twice": (
        "[none, sjf]",
        "[none, none]",
        "5:19: error: matrix[0].names[1]: the label 'none' is given twice",
    ),
    "axis undone": (
        "trace.jobs",
        "dispatcher",
        "6:5: error: this undoes dispatcher, which is set before it",
    ),
    "axis above another": (
        "  - trace.jobs: [5, 9]",
        "  - seed: [5, 9]\n  - trace.jobs: [5]\n  - trace: [swf]",
        "8:5: error: this undoes trace.jobs, which is set before it",
    ),
    "no list": ("[5, 9]", "5", '6:17: error: matrix[1]."trace.jobs": expected a list, found 5'),
    "empty list": ("[5, 9]", "[]", '6:17: error: matrix[1]."trace.jobs": expected a list that is'),
    "names alone": (
        "trace.jobs: [5, 9]",
        "names: [a]",
        "6:5: error: matrix[1]: expected a key path",
    ),
    "no axes": (
        EXPERIMENT[EXPERIMENT.index("matrix") :],
        "matrix: []\n",
        "3:9: error: matrix: expected a list that is not empty, found an empty list",
    ),
    "unknown axis": (
        "matrix:",
        "exclude: [{predictor: x}]\nmatrix:",
        "3:23: error: exclude[0].predictor: there is no axis 'predictor'; there are: dispatcher,",
    ),
    "unknown label": (
        "matrix:",
        "exclude: [{dispatcher: list}]\nmatrix:",
        "3:24: error: exclude[0].dispatcher: dispatcher has no label 'list'; there are: none, sjf",
    ),
    "unknown label in a list": (
        "matrix:",
        "exclude: [{dispatcher: [sjf, list]}]\nmatrix:",
        "3:30: error: exclude[0].dispatcher[1]: dispatcher has no label 'list'; there are: none",
    ),
    "an empty list of labels": (
        "matrix:",
        "exclude: [{dispatcher: []}]\nmatrix:",
        "3:24: error: exclude[0].dispatcher: expected labels of dispatcher, found none",
    ),
    "everything excluded": (
        "matrix:",
        "exclude: [{dispatcher: none}, {dispatcher: sjf}]\nmatrix:",
        "3:1: error: exclude: every cell is excluded",
    ),
    "the name of cells": (
        "trace.jobs: [5, 9]",
        "name: [a, b]",
        "6:11: error: matrix[1].name: cells are named after their labels",
    ),
    "unknown key": ("matrix:", "replica: 3\nmatrix:", "3:1: error: replica: there is no key"),
    "no scenario": ("base.yaml", "none.yaml", "none.yaml: error: the file cannot be read: no such"),
    "too many": (
        "matrix:",
        "replicas: 99999\nmatrix:",
        "5:3: error: matrix: the matrix has 399,996",
    ),
    "unknown executor": (
        "matrix:",
        "executor: remote\nmatrix:",
        "3:11: error: executor: no executor is called 'remote'; there are: dask, local",
    ),
    "dask without workers": (
        "matrix:",
        "executor: dask\nmatrix:",
        "3:11: error: executor: expected one of 'address', 'workers' and 'jobqueue'",
    ),
    "duplicate key": ("matrix:", "name: x\nmatrix:", "3:1: error: name: the key 'name' is given"),
    "missing file of an axis": (
        "trace.jobs: [5, 9]",
        "trace.path: [log.swf, b.swf]",
        "6:27: error: trace.path: there is no file ",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_told_with_its_place(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One message, with line and column in the experiment's file, however many cells it is in."""
    old, new, message = BAD[name]
    assert EXPERIMENT.count(old) == 1
    write_sample(tmp_path, EXPERIMENT.replace(old, new))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError) as caught:
        read_experiment("tiny.yaml")
    (found,) = [str(finding) for finding in caught.value.findings]
    prefix = "" if name == "no scenario" else "tiny.yaml:"
    assert message in found
    assert name == "no scenario" or found.startswith(prefix + message)


def test_a_log_of_another_format(tmp_path: Path) -> None:
    """It is refused once, before any cell runs, as by `run` and `validate`."""
    path = write_sample(tmp_path)
    (tmp_path / "log.swf").write_text("JobID|Submit|Start|End|State\n")
    with pytest.raises(InputError, match="'source: slurm-sacct' reads it") as caught:
        read_experiment(path)
    (found,) = caught.value.findings
    assert str(found.place) == f"{tmp_path / 'base.yaml'}:4:17"


def test_all_errors_come_at_once(tmp_path: Path) -> None:
    """Errors of several axes, and of the base, in order of their places."""
    text = EXPERIMENT.replace("order: sjf", "order: x").replace("[5, 9]", "[5, nine]")
    path = write_sample(tmp_path, text, SCENARIO_WITH_FAULT)
    with pytest.raises(InputError) as caught:
        read_experiment(path)
    places = [(Path(f.place.file).name, f.place.line) for f in caught.value.findings if f.place]
    assert places == [("tiny.yaml", 4), ("tiny.yaml", 6), ("base.yaml", 2)]


SCENARIO_WITH_FAULT = """\
name: base
seed: -1
system: {groups: [{name: node, count: 2, resources: {core: 4}}]}
trace: {source: swf, path: log.swf}
"""


def test_an_executor_of_the_command_line(tmp_path: Path) -> None:
    """It takes the place of the file's, and is said to be wrong as such."""
    path = write_sample(tmp_path, f"{EXPERIMENT}executor: {{name: local, jobs: 3}}\n")
    assert read_experiment(path).executor.jobs == 3
    assert read_experiment(path, (), "{name: dask, workers: 2}").executor.workers == 2
    with pytest.raises(InputError, match=r"executor=none: error: executor: no executor"):
        read_experiment(path, (), "none")


def test_a_missing_package_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where Dask is not there, it is said what to install."""
    monkeypatch.setattr("hpcsched.studies.executors.executor.find_spec", lambda _: None)
    path = write_sample(tmp_path, f"{EXPERIMENT}executor: {{name: dask, workers: 2}}\n")
    with pytest.raises(InputError) as caught:
        read_experiment(path)
    assert str(caught.value) == (
        f"{path}:7:11: error: executor: executor dask: not installed: dask, distributed;"
        " pip install 'hpcsched[dask]' [not-installed]"
    )
