"""How many decision variables the formulations have: by hand, and on a made-up log of Eurora."""

import re
from dataclasses import dataclass, field

import numpy as np
import pytest

from hpcsched.dispatching.cp.formulations.joint_now import joint_now
from hpcsched.dispatching.cp.formulations.pcp19 import pcp4, pcp19
from hpcsched.dispatching.cp.formulations.scheduling import hcp19
from hpcsched.dispatching.cp.formulations.unit_positions import pcp20, pcp21
from hpcsched.dispatching.decision import Decision
from hpcsched.dispatching.planning.model_building import select
from hpcsched.dispatching.planning.model_data import ModelData
from hpcsched.dispatching.planning.selection import SelectionOptions
from hpcsched.dispatching.problem import Dispatcher, DispatchingProblem
from hpcsched.runs.assembly import assemble, parts_of
from hpcsched.scenario import load_scenario
from hpcsched.simulation.event_loop import simulate
from tests.docs.pages import DOCS, ROOT, tables


def data_of(nodes: int) -> ModelData:
    """Return two jobs, of one and of three units, on equal idle nodes of four cores and a GPU.

    The first unit asks for a core and the GPU, the others ask for two cores each.
    """
    return ModelData(
        units=np.array([1, 3]),
        requests=np.array([[1, 1], [2, 0]]),
        run_times=np.array([5, 7]),
        capacity=np.full((nodes, 2), [4, 1]),
        room=np.full((2, nodes), [[1], [2]]),
        allocated_until=np.zeros(0, dtype=np.int64),
        allocated_on=np.zeros(0, dtype=np.int64),
        allocated=np.zeros((0, 2), dtype=np.int64),
        weights=np.array([[1, 1]]),
        free=np.array([[0, 0]]),
        makespan=0,
        horizon=12,
    )


@pytest.mark.parametrize(
    ("formulation", "on_three_nodes", "on_ten_nodes"),
    [
        (hcp19(), 2, 2),  # starts
        (pcp19(), 2 + 3 * (1 + 2), 2 + 10 * (1 + 2)),  # and for each node min(1, 1), min(3, 2)
        (pcp4(), 2 + 3 * 2, 2 + 10 * 2),  # and for each node a count for each job
        (pcp20(), 2 + 2 * (1 + 3), 2 + 2 * (1 + 3)),  # and for each type a position of each unit
        (pcp21(), 2 + 2 * (1 + 3), 2 + 2 * (1 + 3)),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, int) else "",
)
def test_counts_by_hand(formulation, on_three_nodes, on_ten_nodes):
    """The counts are those of the papers' formulas, and those that models come with."""
    for nodes, expected in ((3, on_three_nodes), (10, on_ten_nodes)):
        data = data_of(nodes)
        assert formulation.variables(data) == expected


def test_classes_of_nodes_keep_models_small():
    """Nodes that are alike are one to `joint-now`, however many there are."""
    assert joint_now().variables(data_of(3)) == joint_now().variables(data_of(10))


@dataclass
class Sizes:
    """Decides as another dispatcher, and notes how large PCP'19's and PCP'21's models would be."""

    dispatcher: Dispatcher
    pcp21: list[int] = field(default_factory=list)
    pcp19: list[int] = field(default_factory=list)
    intervals: list[int] = field(default_factory=list)

    def dispatch(self, problem: DispatchingProblem) -> Decision:
        """Note the sizes for the first hundred jobs that could start now, on all nodes."""
        by_arrival = sorted(problem.queue, key=lambda job: (job.submit_time, job.job_id))
        selection = select(
            problem,
            by_arrival,
            SelectionOptions("fitting", 100, None),
            problem.objective.planned_cost,
        )
        if selection is not None:
            data = selection.data
            self.pcp21.append(pcp21().variables(data))
            self.pcp19.append(pcp19().variables(data))
            self.intervals.append(self.pcp19[-1] - data.job_count)
        return self.dispatcher.dispatch(problem)


def sizes(*settings: str) -> Sizes:
    """Return the sizes of models in a replay under EASY."""
    scenario = load_scenario(ROOT / "scenarios" / "eurora-day-easy.yaml", list(settings))
    assembly = assemble(scenario)
    noting = Sizes(assembly.dispatcher)
    simulate(parts_of(assembly, [])._replace(dispatcher=noting), assembly.source.jobs())
    return noting


def shares(found: Sizes) -> list[str]:
    """Return a row of the page's table."""
    ratio = np.array(found.pcp21) / np.array(found.pcp19)
    twice = np.array(found.pcp21) / (np.array(found.pcp19) + np.array(found.intervals))
    assert (ratio < 1).all()
    return [
        f"{len(ratio):,}",
        f"{np.median(ratio):.2f}",
        f"{100 * (ratio < 0.1).mean():.0f} %",
        f"{np.median(twice):.2f}",
        f"{100 * (twice < 0.1).mean():.0f} %",
    ]


PAGE = (DOCS / "constraint-programming.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE))


@pytest.mark.parametrize(
    ("row", "settings"),
    [
        pytest.param(
            1,
            ("trace.start=0d", "trace.duration=60d", "trace.load=1", "trace.jobs=3000"),
            marks=pytest.mark.slow,
        ),
        (2, ("trace.jobs=1000",)),
    ],
)
def test_sizes_on_eurora(row, settings):
    """PCP'21's models are always smaller than PCP'19's, by as much as the page says."""
    table, *_ = tables(SECTIONS["Sizes of models"])
    assert table[row][1:] == shares(sizes(*settings))
