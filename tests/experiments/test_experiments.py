"""The experiments are valid, and have the cells that their papers call for."""

from pathlib import Path

import pytest
import yaml

from comparisons.ahead import cells as ahead
from comparisons.cp2021.paper import PRINTED
from comparisons.debs2024.declaration import read_presentation
from comparisons.debs2024_logs import paper
from comparisons.debs2024_logs.tables import DELAYED_HALF, DELAYED_LOG
from comparisons.fgd2023 import outcomes as fgd2023
from comparisons.in_papers_manner.papers import PAPERS
from comparisons.rlscheduler import paper as rlscheduler
from comparisons.rlscheduler.table import AXES, LOG, SCHEDULER, WINDOW
from debs2024 import SHOWN
from hpcsched.studies.cell import Cell, axis_of, positions
from hpcsched.studies.study_files import Experiment, read_experiment

FOLDER = Path(__file__).parents[2] / "experiments"
LOGS = (
    "KTH-SP2-1996-2.swf.gz",
    "CERIT-SC-2013.swf.gz",
    "Lublin-1.swf.gz",
    "Lublin-2.swf.gz",
    "UniLu-Gaia-2014-1.swf.gz",
    "Eurora-2014-04.csv.gz",
    "KTH-SP2-1996-2.1-cln.swf.gz",
    "CTC-SP2-1996-3.1-cln.swf.gz",
    "SDSC-SP2-1998-4.2-cln.swf.gz",
    "SDSC-BLUE-2000-4.2-cln.swf.gz",
    "CEA-Curie-2011-2.1-cln.swf.gz",
    "lublin-kth.swf",
    "kth-lublin.swf",
    "KIT-FH2-2016-part.swf.gz",
    "RICC-2010-2.swf.gz",
    "SDSC-SP2.swf",
)


@pytest.fixture
def read(tmp_path, monkeypatch):
    """Return what reads an experiment by name; the logs are empty files, as nothing is run."""
    for log in LOGS:
        (tmp_path / log).touch()
    monkeypatch.setenv("HPCSCHED_TRACES", str(tmp_path))
    monkeypatch.setenv("HPCSCHED_CHANGING_LOGS", str(tmp_path))
    monkeypatch.setenv("HPCSCHED_FGD", str(tmp_path))
    monkeypatch.setenv("HPCSCHED_RLSCHEDULER_LOGS", str(tmp_path))

    def read_it(name: str, without: str = "") -> Experiment:
        text = (FOLDER / f"{name}.yaml").read_text(encoding="utf-8")
        assert without in text
        text = text.replace(without, "")
        # The predictor `learned` is a plugin of a package of its own, which may not be installed.
        text = text.replace(", learned", "").replace("../scenarios", str(FOLDER / "../scenarios"))
        path = tmp_path / f"{name}.yaml"
        path.write_text(text, encoding="utf-8")
        return read_experiment(path)

    return read_it


def labels(cells: tuple[Cell, ...], *axes: str) -> list[tuple[str, ...]]:
    """Return the labels of cells on these axes."""
    return [tuple(cell.labels[axis] for axis in axes) for cell in cells]


def test_debs2024(read):
    """Each run that is shown has its cells; off-line ones are for known run times alone."""
    experiment, shown = read("debs2024"), read_presentation(SHOWN)
    found = labels(experiment.cells, "predictor", "dispatcher", "objective")
    assert len(found) == 36
    assert {half for half, *_ in found} == set(shown.halves)
    of_runs = set()
    for run in shown.runs:
        cells = {
            one for one in found
            if one[1] == run.dispatcher and run.objective in {None, one[2]}
        }  # fmt: skip
        halves = ["actual"] if "OFF" in run.label else list(shown.halves)
        assert sorted(half for half, *_ in cells) == halves, run.label
        of_runs |= cells
    assert of_runs == set(found), "every cell is shown"
    assert {row.run for row in shown.table} == {run.label for run in shown.runs}


def test_the_cells_of_debs2024_pursue_what_their_labels_say(read):
    """The dispatcher, the objective and the mode of the scenarios agree with the labels."""
    plugins = {"BSLD": "mean_bounded_slowdown", "AF": "mean_response_time"}
    plugins |= {"AWF": "area_weighted_response_time", "P2SF": "p2sf"}
    kinds = {"List": "list", "EASY": "easy", "order": "order-search", "CP": "cp"}
    kinds |= {"CP+areas": "best-of", "CP+arrival": "best-of"}
    kinds |= {"CP-OFF": "order-search", "CP-OFF-more": "order-search"}
    for cell in read("debs2024").cells:
        label, scenario = cell.labels["dispatcher"], cell.scenario
        kind = kinds.get(label) or kinds[label.partition("-")[0]]
        assert scenario.dispatcher.plugin_name == kind
        assert scenario.predictor.plugin_name == cell.labels["predictor"]
        assert scenario.objective.plugin_name == plugins[cell.labels["objective"]]
        assert scenario.simulation.mode == ("offline" if "OFF" in label else "online")


def test_debs2024_logs(read):
    """A cell for each row, half and log, and for rules ten more where arrivals are delayed.

    Systems have as many cores as the paper's table 1 says, and delays have the seed of the label.
    """
    cells = read("debs2024_logs").cells
    found = labels(cells, "system", "predictor", "dispatcher", "objective", "trace.transforms")
    rules = {"List-REG"} | {row.dispatcher for row in paper.ROWS if row.printed}
    rules = {name for name in rules if not name.startswith("CP-")}
    of_a_half = {(rule, "BSLD") for rule in rules}
    of_a_half |= {(row.dispatcher, row.objective) for row in paper.ROWS if not row.printed}
    wanted = {
        (log, half, *one, "as-logged")
        for log in paper.LOGS for half in paper.HALVES for one in of_a_half
    }  # fmt: skip
    wanted |= {
        (DELAYED_LOG, DELAYED_HALF, rule, "BSLD", f"j{k}") for rule in rules for k in range(1, 11)
    }
    assert len(found) == len(wanted) == 60 + 2 * 40 + 60
    assert set(found) == wanted

    cores = {"KTH-SP2": 100, "CTC-SP2": 338, "SDSC-SP2": 128, "SDSC-BLUE": 1152, "CEA-CURIE": 93312}
    files = {log: log for log in cores} | {"KTH-SP2": "KTH", "CTC-SP2": "CTC", "CEA-CURIE": "CEA"}
    for cell in cells:
        scenario, log = cell.scenario, cell.labels["system"]
        groups = scenario.system.groups
        assert sum(group.count * group.resources["core"] for group in groups) == cores[log]
        assert Path(scenario.trace.path).name.startswith(files[log])
        delays = [f"j{one.seed}" for one in scenario.trace.transforms]
        assert (delays or ["as-logged"]) == [cell.labels["trace.transforms"]]


def test_predictors(read):
    """Every dispatcher with every predictor on both logs, with the allocator of the log."""
    cells = read("predictors").cells
    assert len(cells) == 2 * 5 * 5
    allocators = {"KTH-SP2": "first-fit", "CERIT-SC": "best-fit"}
    for cell in cells:
        scenario = cell.scenario
        assert scenario.dispatcher.allocator.plugin_name == allocators[cell.labels["system"]]
        assert scenario.correction.plugin_name == "requested-time"


def test_cp2021(read):
    """There is a cell for each row of the paper's tables."""
    experiment = read("cp2021")
    found = labels(experiment.cells, "system", "dispatcher", "predictor")
    assert set(found) == set(PRINTED)
    assert len(found) == len(PRINTED) == 14
    for cell in experiment.cells:
        assert cell.scenario.objective.plugin_name == "mean_slowdown"
        assert cell.scenario.dispatcher.time_limits is None
        assert getattr(cell.scenario.dispatcher, "symmetric", False) is (
            cell.labels["dispatcher"] == "pcp21s"
        )


def shown(papers):
    """Return the labels of system, dispatcher and predictor of each row and bar, sorted."""
    found = {
        (one.system, row.dispatcher, row.predictor)
        for paper in papers
        for one in paper.tables
        for row in one.rows
    }
    found |= {(one.system, *bar) for paper in papers for one in paper.figures for bar in one.bars}
    return sorted(found)


def has_the_manner(dispatcher):
    """Return whether a dispatcher plans as the papers' do, whatever its limits are."""
    lists = (dispatcher.orders, dispatcher.fill, dispatcher.spare_nodes)
    search = (dispatcher.solver.plugin_name, dispatcher.horizon)
    return lists == ((), False, None) and search == ("schedule-or-postpone", "worst_case")


GAIA = "thesis2020-gaia"
SYNTHETIC = ("cp2021", "pcp20", "thesis2020")
"""Papers whose logs have a synthetic stand-in."""

EURORA_WAITS = {1: 21_600, 2: 86_400, 3: 1800, 4: 3600}
"""Expected waits by queue; tests/traces/test_eurora.py compares them with the file of the log."""


def test_in_papers_manner(read):
    """There is a cell for each row and bar of three papers, and no other; all have the manner."""
    cells = read("in_papers_manner").cells
    papers = [PAPERS[label] for label in SYNTHETIC]
    assert sorted(labels(cells, "system", "dispatcher", "predictor")) == shown(papers)
    for cell in cells:
        dispatcher, system = cell.scenario.dispatcher, cell.labels["system"]
        assert has_the_manner(dispatcher)
        limits = dispatcher.time_limits
        assert (limits.first, limits.most, limits.extensions) == (1, 16, 2)
        assert cell.scenario.trace.plugin_name == f"{system}-like"


def test_the_models_on_three_solvers(read):
    """Each of five models meets each solver on two logs, and once a latency on Eurora's."""
    cells = read("cpmpy_models").cells
    assert len(cells) == 5 * (3 * 2 + 1)
    for cell in cells:
        dispatcher, charged = (
            cell.scenario.dispatcher,
            cell.labels["dispatcher.solver"] == "charged",
        )
        lists = (dispatcher.orders, dispatcher.fill, dispatcher.spare_nodes, dispatcher.horizon)
        assert lists == ((), False, None, "worst_case")
        assert (dispatcher.time_limits.first, dispatcher.time_limits.most) == (1, 2)
        assert (cell.scenario.simulation.dispatch_latency is not None) == charged


def test_fgd2023(read, tmp_path):
    """Six policies on 17 workloads, ten seeds each; a part of them, as all take long to read."""
    for name in fgd2023_workloads():
        (tmp_path / f"openb_pod_list_{name}.csv.gz").touch()
    cells = read("fgd2023", ", 43, 44, 45, 46, 47, 48, 49, 50, 51").cells
    assert len(cells) == 17 * 6
    for cell in cells:
        workload, scenario = cell.labels["trace.of.path"], cell.scenario
        assert f"_{workload}.csv" in scenario.trace.of.path
        assert scenario.dispatcher.allocator.plugin_name in fgd2023.POLICIES
        models = scenario.trace.of.columns.node_groups
        assert models == (None if "multigpu" in workload else "gpu_spec")


def fgd2023_workloads():
    """Return the labels of the workloads."""
    text = (FOLDER / "fgd2023.yaml").read_text(encoding="utf-8")
    return yaml.safe_load(text)["matrix"][0]["names"]


def test_in_papers_manner_on_gaia(read):
    """There is a cell for each row and bar of table 5.4 and figure 5.5, with limits of work."""
    cells = read("in_papers_manner_gaia").cells
    assert sorted(labels(cells, "system", "dispatcher", "predictor")) == shown([PAPERS[GAIA]])
    assert len(cells) == 14
    for cell in cells:
        dispatcher = cell.scenario.dispatcher
        assert has_the_manner(dispatcher)
        assert (dispatcher.time_limits, dispatcher.budget) == (None, 0.2)
        assert cell.scenario.trace.path.endswith("UniLu-Gaia-2014-1.swf.gz")
        assert (dispatcher.expected_wait is None) == (dispatcher.version == 3)


def test_in_papers_manner_on_eurora(read):
    """There is a cell for each row and bar that the log allows, with the waits of its queues."""
    cells = read("in_papers_manner_eurora").cells
    papers = [PAPERS[f"{label}-eurora"] for label in SYNTHETIC]
    assert sorted(labels(cells, "system", "dispatcher", "predictor")) == shown(papers)
    assert len(cells) == 11
    for cell in cells:
        dispatcher = cell.scenario.dispatcher
        assert has_the_manner(dispatcher)
        assert (dispatcher.time_limits, dispatcher.budget) == (None, 0.05)
        waits = getattr(dispatcher, "expected_wait", None)
        assert waits is None or waits.by_queue == EURORA_WAITS


def test_mod2017_on_eurora(read):
    """Five dispatchers with two predictions, and PBS as it was."""
    cells = read("mod2017_eurora").cells
    found = labels(cells, "dispatcher", "predictor")
    assert len(found) == 11
    assert [letter for name, letter in found if name == "PBS"] == ["W"]
    waits = [
        cell.scenario.dispatcher.expected_wait
        for cell in cells
        if cell.labels["dispatcher"] in ("PRB", "CPH")
    ]
    assert len(waits) == 4
    for one in waits:
        assert one.by_queue == EURORA_WAITS


def test_mod2017(read):
    """The paper's fifteen combinations of dispatchers and predictions."""
    experiment = read("mod2017")
    found = labels(experiment.cells, "dispatcher", "predictor")
    assert len(found) == 15
    assert {predictor for _, predictor in found} == {"W", "D", "R"}
    rules = {
        (
            cell.labels["dispatcher"],
            cell.scenario.dispatcher.order.plugin_name,
            cell.scenario.dispatcher.option,
        )
        for cell in experiment.cells
        if cell.labels["dispatcher"] in {"SJF", "LJF"}
    }
    # They end at the first job that does not fit, as in the paper.
    assert rules == {("SJF", "sjf", "strict"), ("LJF", "ljf", "strict")}


def test_rlscheduler(read):
    """Every scheduler of the paper but its own, and ours, on three logs; ten windows are many."""
    experiment = read("rlscheduler", ", 2756, 4299, 8850, 3316, 2714, 5228, 7762, 4022, 7085")
    found = labels(experiment.cells, *AXES)
    assert {log for log, *_ in found} == set(rlscheduler.PRINTED)
    names = {name for *_, name in found}
    for printed in rlscheduler.PRINTED.values():
        assert names > {name for name in printed if not name.startswith("RL")}
    assert len(found) == 3 * len(names)
    for cell in experiment.cells:
        scenario, name = cell.scenario, cell.labels[SCHEDULER]
        (group,) = scenario.system.groups
        assert group.count == (128 if cell.labels[LOG] == "SDSC-SP2" else 256)
        assert cell.labels[LOG] in scenario.trace.path
        (window,) = scenario.trace.transforms
        assert (window.skip, window.jobs, cell.labels[WINDOW]) == (1981, 1024, "1981")
        if name in rlscheduler.PRINTED["Lublin-1"]:
            backfilled = rlscheduler.BACKFILLED
            option = "committed-backfill" if name.endswith(backfilled) else "committed"
            order = name.removesuffix(backfilled).lower().replace("unicep", "unicef")
            dispatcher = scenario.dispatcher
            assert (dispatcher.option, dispatcher.order.plugin_name) == (option, order)


def test_changing_log(read):
    """Both logs under nine schedulers; those that pursue an objective have a run for each."""
    experiment = read("changing_log")
    assert len(experiment.cells) == 2 * (7 + 2 * 2)


def test_switching(read):
    """Members are run once for all objectives, and are those of every portfolio."""
    experiment = read("switching")
    assert len(experiment.cells) == 7 * 2 * 3 * (8 + 4 * 4)
    settings = {cell.labels["dispatcher"]: cell.scenario.dispatcher for cell in experiment.cells}
    members = [one for one in settings.values() if one.plugin_name != "hyper"]
    for one in settings.values():
        assert one in members or list(one.portfolio) == members


@pytest.mark.usefixtures("read")
def test_ahead(tmp_path):
    """Rules serve every objective, and whole logs have one seed; stretches are parts of the whole.

    The first begins with it, the last ends with it, and the middle is as far from both.
    """
    text = (FOLDER / "ahead.yaml").read_text(encoding="utf-8")
    declared = yaml.safe_load(text.replace("../scenarios", str(FOLDER / "../scenarios")))
    axes = [axis_of(axis) for axis in declared["matrix"]]
    assert tuple(axis.name for axis in axes) == ahead.AXES
    found = [position.labels for position in positions(axes, declared.pop("exclude"))]
    assert len(found) == (29 * 5 + 9) * 2 * (7 + 2 * 4)

    # One cell for each stretch: all of them take a minute to read.
    for axis in declared["matrix"][1:]:
        axis |= {key: values[-1:] for key, values in axis.items()}
    path = tmp_path / "ahead.yaml"
    path.write_text(yaml.safe_dump(declared), encoding="utf-8")
    places, systems = {}, {}
    for cell in read_experiment(path).cells:
        scenario = cell.scenario
        log, _, stretch = cell.labels["system"].rpartition("-")
        first, jitter = scenario.trace.transforms
        places.setdefault(log, {})[stretch] = (first.skip, first.jobs)
        systems.setdefault(log, set()).add((scenario.trace.path, str(scenario.system)))
        assert (jitter.by, jitter.seed) == (1, 5)
        assert scenario.dispatcher.plugin_name == "hyper"
    assert set(places) > set(ahead.TUNING)
    assert all(len(of_log) == 1 for of_log in systems.values())
    for log, of_log in places.items():
        begin, jobs = of_log.get("whole", (0, 10_000))
        spare = jobs - 10_000
        wanted = {"first": (begin, 10_000)}
        if not log.startswith("Lublin"):
            wanted["middle"] = (begin + spare // 2, 10_000)
            wanted |= {"last": (begin + spare, 10_000), "whole": (begin, jobs)}
        assert of_log == wanted, log
    assert places["BLUE-2"]["whole"] == (116_268, 116_268), "after BLUE-1"
    assert places["BLUE-1"]["whole"] == (0, 116_268)


def test_ahead_offline(read):
    """Ten stretches of 400 jobs, planned off line, and dispatched with known run times."""
    cells = read("ahead_offline").cells
    assert len(cells) == 10 * 3
    for cell in cells:
        scenario, stretch = cell.scenario, cell.labels["system"]
        (first,) = scenario.trace.transforms
        assert (first.jobs, first.skip) == (400, int(stretch.rpartition("-")[2]))
        assert stretch[:3] in scenario.trace.path.rpartition("/")[2].replace("SDSC-", "")
        off_line = cell.labels["dispatcher"] == "off-line"
        assert scenario.simulation.mode == ("offline" if off_line else "online")
        assert scenario.predictor.plugin_name == "actual"
        assert scenario.objective.plugin_name == "mean_response_time"


def test_start_times(read):
    """Two stretches of each of four logs under two orders of the queue."""
    cells = read("start_times").cells
    assert len(cells) == 2 * 8
    skips = {"KTH-SP2": 28467, "CTC-SP2": 77205, "SDSC-SP2": 53999, "SDSC-BLUE": 232536}
    for cell in cells:
        scenario, (log, part) = cell.scenario, cell.labels["system"].rsplit("-", 1)
        assert Path(scenario.trace.path).name.startswith(log)
        (stretch,) = scenario.trace.transforms
        assert (stretch.skip, stretch.jobs) == (0 if part == "first" else skips[log] - 4000, 4000)
        assert scenario.predictor.plugin_name == "requested-time"
