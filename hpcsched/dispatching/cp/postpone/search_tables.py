"""Tables of schedule-or-postpone: the problem, which does not change, and the state of the search.

`J` jobs in order of priority, `N` nodes, `R` resource types of a node, and `G` cumulative
resources: of each type the amount of all nodes together, then the system's shared resources. Times
are in steps.
"""

from typing import NamedTuple

from hpcsched.dispatching.core.state import FloatArray
from hpcsched.system.system import IntArray

AGGREGATED, NOW, COUNTS, POSITIONS = range(4)
"""Jobs whose nodes a plan has: none, those that start now, all by counts, all by positions."""

START, POSTPONE = range(2)
"""The two branches of a decision."""

(
    DEPTH,
    LEVEL,
    DONE,
    NODES,
    FAILS,
    SOLUTIONS,
    BEST,
    GOES_DOWN,
    DIFFERED,
    LEFT_OUT,
    TRAIL,
    BOXES,
) = range(12)
"""Entries of `Search.state`.

Decisions and levels on the path, jobs started on it; nodes of the tree, fails and solutions so far,
and the cost of the best solution. Whether the next step is a decision. How often a job had room on
all nodes together but found none on single ones that could have been left free for it, and whether
a placement was left out for which that may matter. Entries of the trail; boxes.
"""


class Problem(NamedTuple):
    """The problem of the search.

    - `mode`; `by_node`: whether all jobs have nodes; `back_to_start`: whether a failure goes back
      to a job's start at once.
    - `before`, `[J, P]`: jobs that start no later, then −1.
    - `units`, `run_times`, `latest`, `twin`, `[J]`: `twin` is a job that is in every way the same
      and starts no later, or −1. `requests`, `[J, R]`, `room`, `[J, N]`, as in `ModelData`; `key`,
      `[J]`, is equal for equal requests. `demand`, `[J, G]`, of `total`, `[G]`; `energy_order`,
      `[G, J]`: by weight over energy, largest first.
    - `fixed_at`, `[F]`, and `fixed`, `[F, G]`: what is taken from then on by running jobs, closed
      nodes and what shared resources do not offer; `rises`, `[F]`: whether that is more than
      before. `releases`, `[H]`, and `released`, `[H, G]`: when how much more comes free than ever
      was.
    - `capacity`, `[N, R]`; `node_class`, `[N]`: alike for nodes that offer the same to all jobs.
      `allocated_until`, `allocated_on`, `allocated_key`, `[K]`, and `allocated`, `[K, R]`: running
      jobs, by end.
      Node n is closed at `closed_begin[c]` … `closed_end[c]`, `closed_first[n]` ≤ c <
      `closed_first[n + 1]`.
    - `events`: when something may become free that no job of the search holds, ascending.
    - `weights`, `free`, `[T, J]`, `makespan`: the objective. Curves of job j are at
      `curve_first[j]` ≤ k < `curve_first[j + 1]` in `curve_at`, `curve_cost`, `curve_slope`.
    """

    mode: int
    by_node: bool
    back_to_start: bool
    units: IntArray
    run_times: IntArray
    latest: IntArray
    twin: IntArray
    before: IntArray
    requests: IntArray
    key: IntArray
    room: IntArray
    demand: IntArray
    total: IntArray
    energy_order: IntArray
    fixed_at: IntArray
    fixed: IntArray
    rises: IntArray
    releases: IntArray
    released: IntArray
    capacity: IntArray
    node_class: IntArray
    allocated_until: IntArray
    allocated_on: IntArray
    allocated_key: IntArray
    allocated: IntArray
    closed_first: IntArray
    closed_begin: IntArray
    closed_end: IntArray
    events: IntArray
    weights: IntArray
    free: IntArray
    makespan: int
    curve_first: IntArray
    curve_at: IntArray
    curve_cost: IntArray
    curve_slope: IntArray


class Search(NamedTuple):
    """The state of the search.

    - `state`: numbers, see above. `order`, `rank`, `[J]`: in which jobs are looked at, and where
      each is in that. `start`, `[J]`, −1 for none yet; `postponed`, `[J]`: at which level, or −1.
    - A level is a time at which some job could start. `level_time`, `level_at`, `[L]`: when, and up
      to where the order has been looked at. `together`, `[L, G]`: what is free of all nodes from
      then on; `left`, `[L, N, R]`: of each node; `without`, `[L, N, R]`: if no job of the search
      was there. `sign`, `[L, N, 2]`: alike where the same is allocated until the same times.
    - `placed`, `[J, N]`: units on nodes. `among`, `[J, N]`: the nodes that a job can choose from,
      `choices`, `[J]`, of them, in their order; `fits`, `[J, N]`: how many units they can
      hold; `alike`, `[J, N]`: which one before is the same, −1 for none, −2 where unknown.
    - Decisions, by depth: `job`, `branch`, `level`, `at`, `trail`, `differed`, and
      `before`: at which level the job was postponed. `undone_job`, `undone_level`: what
      postponements to go back to.
    - Boxes of positions: `box_end`, `box_low`, `box_high`, `box_next`, the first of a node and type
      in `box_first`, `[N, R]`. `lows`, `[J, R, U]`: positions of units, node by node as in `among`.
    - `by_end`, `[J]`: jobs that were started, by end.
    - `best_start`, `best_placed`: the best plan. The others are room to work in.
    """

    state: IntArray
    order: IntArray
    rank: IntArray
    start: IntArray
    postponed: IntArray
    level_time: IntArray
    level_at: IntArray
    together: IntArray
    left: IntArray
    without: IntArray
    sign: IntArray
    placed: IntArray
    among: IntArray
    choices: IntArray
    fits: IntArray
    alike: IntArray
    job: IntArray
    branch: IntArray
    level: IntArray
    at: IntArray
    trail: IntArray
    differed: IntArray
    before: IntArray
    undone_job: IntArray
    undone_level: IntArray
    box_end: IntArray
    box_low: IntArray
    box_high: IntArray
    box_next: IntArray
    box_first: IntArray
    lows: IntArray
    by_end: IntArray
    best_start: IntArray
    best_placed: IntArray
    tally: IntArray
    earliest: IntArray
    sorted_jobs: IntArray
    ratios: FloatArray
    slopes: FloatArray
