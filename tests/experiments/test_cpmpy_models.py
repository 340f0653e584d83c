"""The papers' models on several solvers: what is shown of a small experiment."""

import pytest

import cpmpy_models as command
from hpcsched import cli
from tests.docs.pages import tables
from tests.workload.readers.swf_files import record, write

BASE = """\
name: base
system: {groups: [{name: node, count: 2, resources: {core: 3}}]}
trace: {source: swf, path: log.swf, unit: {core: 2}}
predictor: actual
simulation: {aggregate_nodes: false}
objective: slowdown
dispatcher: easy
"""

EXPERIMENT = """\
name: cpmpy_models
scenario: base.yaml
matrix:
  - {names: [pcp21], dispatcher: [pcp21]}
  - names: [search, cp-sat]
    dispatcher.solver: [schedule-or-postpone, ortools]
    dispatcher.orders: [[], []]
    dispatcher.fill: [false, false]
    dispatcher.spare_nodes: [null, null]
  - {names: [eurora-log], system: [{groups: [{name: node, count: 2, resources: {core: 3}}]}]}
"""


@pytest.mark.slow
def test_models_and_solvers(tmp_path, capsys):
    """Job 1 has both nodes until 10 s; of two that wait, each node then takes one at once.

    So waits are 0, 9 and 9 s, and slowdowns 1, 1.9 and 1.9. Where job 1 keeps both nodes, at 1 s,
    no job has room and no solver is asked.
    """
    write(tmp_path, [record(*job) for job in [(1, 0, 10, 2), (2, 1, 10, 1), (3, 1, 10, 1)]])
    (tmp_path / "base.yaml").write_text(BASE)
    (tmp_path / "small.yaml").write_text(EXPERIMENT)
    out = tmp_path / "out"
    assert cli.main(["experiment", str(tmp_path / "small.yaml"), "--out", str(out)]) == 0
    capsys.readouterr()
    assert command.main([str(out)]) == 0
    (rows,) = tables(capsys.readouterr().out)
    cells = {(row[0], row[1]): row[2:] for row in rows[1:]}
    assert len(cells) == 15
    for solver in ("schedule-or-postpone", "CP-SAT"):
        found = cells["PCP'21", solver]
        assert (found[2], found[3]) == ("3", "2")
        assert found[4:6] == ["0 (0%)", "2 (100%)"]
        assert found[8:] == ["1.60 ± 0.42", "6 ± 4"]
    assert cells["PCP'21", "Choco"] == ["–"] * 10
    assert sorted(path.name for path in (out / "figures").glob("*.png")) == ["figure-5.png"]
