"""Where each allocator puts a job, with the numbers by which it ranks the nodes."""

import pytest

from hpcsched.system.system import NodeGroup, System
from hpcsched.testing import make_problem
from tests.builders import alike
from tests.golden.declared import declared, placed


def system_of(*nodes: dict[str, int]) -> System:
    """Return a system of single nodes with these resources."""
    return System(tuple(NodeGroup(f"n{k}", 1, amounts) for k, amounts in enumerate(nodes)))


def nodes_of(job: int, allocator: str, system: System, table: str) -> dict[int, int]:
    """Return how many units of a job go to which node; jobs without room are passed."""
    dispatcher = declared(system, f"{{name: list, option: greedy, allocator: {allocator}}}")
    return placed(dispatcher, make_problem(system, table))[job]


def test_first_fit():
    """Nodes by number: one core is left on node 0, all four are on node 1, and 1 + 4 + 1 = 6."""
    table = """
        job_id  units  requested_time  start_time
        1       3      9               0
        2       6      9               -
    """
    assert nodes_of(2, "first-fit", alike(3, core=4), table) == {0: 1, 1: 4, 2: 1}


@pytest.mark.parametrize(
    ("units", "expected"),
    [(4, {1: 3, 0: 1}), (6, {1: 3, 0: 2, 3: 1}), (9, {1: 3, 0: 2, 3: 3, 2: 1})],
)
def test_best_fit(units, expected):
    """The mean of a node's free shares, over the types that it has, decides.

    Node 0: (2/4 + 8/8) / 2 = 0.75. Node 1: (3/4 + 2/8) / 2 = 0.5. Node 2: 1. Node 3, which has
    cores alone: 3/4, as much as node 0, which comes first by its number. So 1, 0, 3, 2.
    """
    full = {"core": 4, "mem": 8}
    table = f"""
        job_id  units    core  mem  requested_time  start_time  allowed_nodes
        1       1        2     0    9               0           0
        2       1        1     6    9               0           1
        3       1        1     0    9               0           3
        4       {units}  1     0    9               -           -
    """
    system = system_of(full, full, full, {"core": 4})
    assert nodes_of(4, "best-fit", system, table) == expected


def test_best_fit_where_a_node_has_one_of_a_type():
    """Node 1: (2/4 + 1/1) / 2 = 0.75, so it is fuller than node 0, which has cores alone."""
    table = """
        job_id  core  requested_time  start_time  allowed_nodes
        1       2     9               0           1
        2       1     9               -           -
    """
    system = system_of({"core": 4}, {"core": 4, "gpu": 1})
    assert nodes_of(2, "best-fit", system, table) == {1: 1}


@pytest.mark.parametrize("allocator", ["first-fit", "best-fit", "keep-scarce", "weighted"])
def test_equal_nodes_come_by_number(allocator):
    """Of 40 nodes every other one has a core left, of two."""
    odd = ",".join(str(node) for node in range(1, 40, 2))
    table = f"""
        job_id  units  core  requested_time  start_time  allowed_nodes  one_unit_per_node
        1       20     1     9               0           {odd}          yes
        2       3      1     9               -           {odd}          no
    """
    assert nodes_of(2, allocator, alike(40, core=2), table) == {1: 1, 3: 1, 5: 1}


@pytest.mark.parametrize(("gpus", "node"), [(3, 1), (1, 0)])
def test_keep_scarce_by_what_waits(gpus, node):
    """The price of a node: for each type not asked for, its share of what there is × its demand.

    Three of four GPUs are held, on node 0, and one of two MICs, on node 2, where no core is left.
    Node 0 offers 1/4 of all GPUs, node 1 a half of all MICs, for which the demand is 1/2.

    - Job 3 wants three GPUs more: demand (3 + 3) / 4. Node 0 costs 1/4 × 6/4 = 0.375, node 1
      1/2 × 1/2 = 0.25. So job 4 goes to node 1, though that offers more.
    - It wants one more: demand (3 + 1) / 4. Node 0 costs 1/4 × 4/4 = 0.25, as much as node 1, and
      offers less.
    """
    system = system_of({"core": 4, "gpu": 4}, {"core": 4, "mic": 1}, {"core": 1, "mic": 1})
    table = f"""
        job_id  units   core  gpu  mic  requested_time  start_time  allowed_nodes
        1       3       0     1    0    9               0           0
        2       1       1     0    1    9               0           2
        3       {gpus}  5     1    0    9               -           -
        4       1       1     0    0    9               -           -
    """
    assert nodes_of(4, "keep-scarce", system, table) == {node: 1}


def test_keep_scarce_by_what_runs():
    """Node 0 costs 1/4 × 3/4 = 0.1875: three of four GPUs are held. Node 1 costs 1/1 × 1/8 = 0.125.

    Job 2 wants one of eight MICs. If what runs did not count, node 0 would cost nothing.
    """
    system = system_of({"core": 4, "gpu": 4}, {"core": 4, "mic": 8})
    table = """
        job_id  core  gpu  mic  requested_time  start_time  allowed_nodes
        1       0     3    0    9               0           0
        2       5     0    1    9               -           -
        3       1     0    0    9               -           -
    """
    assert nodes_of(3, "keep-scarce", system, table) == {1: 1}


def test_keep_scarce_where_nobody_wants_anything():
    """All cost nothing. Node 2 offers 1/8 of all GPUs, node 0 and 1 3/8 and 4/8; 1 is fullest.

    Of nodes 3 and 4, which offer none, 4 has 1/4 of its cores free and 3 2/4. Then come 2, 0, 1.
    """
    system = system_of(
        {"core": 4, "gpu": 3},
        {"core": 4, "gpu": 4},
        {"core": 4, "gpu": 1},
        {"core": 4},
        {"core": 4},
    )
    table = """
        job_id  units  core  gpu  requested_time  start_time  allowed_nodes
        1       1      3     0    9               0           1
        2       1      2     0    9               0           3
        3       1      3     0    9               0           4
        4       {}     1     0    9               -           -
    """
    ranked = [4, 3, 2, 0, 1]
    free = {4: 1, 3: 2, 2: 4, 0: 4, 1: 1}
    for upto in range(1, 6):
        filled = {node: free[node] for node in ranked[:upto]}
        found = nodes_of(4, "keep-scarce", system, table.format(sum(filled.values())))
        assert found == dict(sorted(filled.items()))


def test_keep_scarce_adds_up_what_is_offered():
    """Nobody wants GPUs or MICs. Node 0 offers 6/10 + 1/10, node 1 1/10 + 2/10, node 2 3/10 + 7/10.

    So the nodes come in the order 1, 0, 2.
    """
    system = system_of(
        {"core": 4, "gpu": 6, "mic": 1},
        {"core": 4, "gpu": 1, "mic": 2},
        {"core": 4, "gpu": 3, "mic": 7},
    )
    table = """
        job_id  units  core  requested_time
        1       {}     1     9
    """
    assert nodes_of(1, "keep-scarce", system, table.format(4)) == {1: 4}
    assert nodes_of(1, "keep-scarce", system, table.format(8)) == {0: 4, 1: 4}


@pytest.mark.parametrize(
    ("units", "nodes"), [(4, [0]), (8, [0, 3]), (12, [0, 1, 3]), (16, [0, 1, 2, 3])]
)
def test_balanced_by_turns(units, nodes):
    """The k-th node of a class, from 0 on, has its turn at (k + ½) / what is free of its type.

    All MICs are free: nodes 0, 1 and 2 come at 0.5, 1.5 and 2.5. Four of ten GPUs are: nodes 3 and
    4 come at 0.5 / 0.4 = 1.25 and 1.5 / 0.4 = 3.75.
    """
    mic, gpu = {"core": 4, "mic": 1}, {"core": 4, "gpu": 5}
    table = f"""
        job_id  units    core  gpu  requested_time  start_time  one_unit_per_node
        1       2        0     3    9               0           yes
        2       {units}  1     0    9               -           no
    """
    system = system_of(mic, mic, mic, gpu, gpu)
    assert nodes_of(2, "balanced", system, table) == dict.fromkeys(nodes, 4)


@pytest.mark.parametrize(
    ("units", "nodes"), [(4, [3]), (8, [0, 3]), (12, [0, 1, 3]), (16, [0, 1, 2, 3])]
)
def test_balanced_by_classes(units, nodes):
    """Node 3 has nothing scarce. Of the others each has a class of its own; node 4 is full.

    Free are 4/10 of the GPUs on node 0, whose turn is 0.5 / 0.4 = 1.25; 3/10 of the MICs on node 2,
    0.5 / 0.3 = 1.67; on node 1 6/10 of the GPUs and 1/10 of the MICs, 0.35 in the mean, so that its
    turn is 0.5 / 0.35 = 1.43.
    """
    system = system_of(
        {"core": 4, "gpu": 4},
        {"core": 4, "gpu": 6, "mic": 1},
        {"core": 4, "mic": 3},
        {"core": 4},
        {"core": 1, "mic": 6},
    )
    table = f"""
        job_id  units    core  mic  requested_time  start_time  allowed_nodes
        1       1        1     6    9               0           4
        2       {units}  1     0    9               -           -
    """
    assert nodes_of(2, "balanced", system, table) == dict.fromkeys(nodes, 4)


def test_balanced_counts_as_critical_what_some_nodes_lack():
    """All have a MIC, so that this is not scarce, and node 0 alone has a GPU: node 1 comes first.

    If MICs were, node 1 would come at 0.5 / 0.5, and node 0 at 0.5 / 0.75, as all GPUs are there.
    """
    table = """
        job_id  core  requested_time
        1       1     9
    """
    system = system_of({"core": 4, "mic": 1, "gpu": 1}, {"core": 4, "mic": 1})
    assert nodes_of(1, "balanced", system, table) == {1: 1}


def test_balanced_passes_nodes_without_room():
    """Node 0, on which no core is left, takes no turn from node 1: that comes at 0.5 / (5/6).

    That is 0.6, and node 2 comes at 0.5 / 1. Were node 0 counted, 1 would come at 1.8, after 3.
    """
    gpu, mic = {"core": 4, "gpu": 3}, {"core": 4, "mic": 1}
    table = """
        job_id  units  core  gpu  requested_time  start_time  allowed_nodes
        1       1      4     1    9               0           0
        2       8      1     0    9               -           -
    """
    assert nodes_of(2, "balanced", system_of(gpu, gpu, mic, mic), table) == {1: 4, 2: 4}


CORES_AND_MEM = ({"core": 4, "mem": 24}, {"core": 12, "mem": 8}, {"core": 4, "mem": 8})


@pytest.mark.parametrize(
    ("core", "mem", "node"),
    [(0, 100, 1), (100, 0, 0), (0, 1, 1)],
    ids=["mem is wanted", "cores are wanted", "mem is held"],
)
def test_weighted(core, mem, node):
    """Job 3 asks for 4 × (1 core, 2 mem) of 20 cores and 40 mem; all 8 mem of node 2 are held.

    On node 0 it would leave 16/40 of the memory, on node 1 8/20 of the cores: 0.4 each.

    - Job 2 wants 100 mem: pressure (8 + 100 + 8) / 40 = 2.9 on memory, 4/20 = 0.2 on cores. Node 0
      weighs 0.4 × 2.9, node 1 0.4 × 0.2.
    - It wants 100 cores: 0.4 on memory and 5.2 on cores. Node 0 weighs 0.16, node 1 2.08.
    - It wants next to nothing: 0.425 on memory, of which nearly half is held, and 0.2 on cores.
    """
    table = f"""
        job_id  units  core    mem    requested_time  start_time  allowed_nodes
        1       1      0       8      9               0           2
        2       1      {core}  {mem}  9               -           2
        3       4      1       2      9               -           -
    """
    assert nodes_of(3, "weighted", system_of(*CORES_AND_MEM), table) == {node: 4}


@pytest.mark.parametrize(
    ("allocator", "node"),
    [
        ("first-fit", 0),
        ("best-fit", 0),
        ("keep-scarce", 0),
        ("balanced", 0),
        ("weighted", 3),
        ("hybrid", 1),
        ("{name: hybrid, scarce_resources: [core]}", 3),
        ("{name: balanced, scarce_resources: [mem]}", 0),
    ],
)
def test_one_job_and_six_allocators(allocator, node):
    """Job 2 asks for 4 × (1 core, 2 mem), job 1, which has no room, for 100 mem; job 3 has node 2.

    Node 3 has the only GPU, and the job would leave nothing there but that, which nobody wants: it
    weighs nothing. Hybrid takes a node without GPUs first, and of these that of least weight: of 24
    cores and 48 mem it would leave 16/48 of the memory on node 0, 8/24 of the cores on node 1, and
    memory is wanted. Where GPUs are not scarce, node 3 is as good as the others.
    """
    system = system_of(*CORES_AND_MEM, {"core": 4, "mem": 8, "gpu": 1})
    table = """
        job_id  units  core  mem  requested_time  start_time  allowed_nodes
        1       1      0     100  9               -           -
        2       4      1     2    9               -           -
        3       1      4     8    9               0           2
    """
    assert nodes_of(2, allocator, system, table) == {node: 4}
