"""Figures 5 and 7 of DEBS 2024: queues of finished runs."""

import pytest

from comparisons.command import Drawing
from comparisons.debs2024.queues import draw_queues
from comparisons.finished import Finished, LabelledRun
from hpcsched import run
from tests.experiments.samples import BASE
from tests.workload.readers.swf_files import record, write

SAF = {"predictor": "actual", "objective": "BSLD", "dispatcher": "List-SAF"}
CP_AF = {"predictor": "actual", "objective": "AF", "dispatcher": "CP"}
CP_P2SF = {"predictor": "actual", "objective": "P2SF", "dispatcher": "CP"}


@pytest.fixture
def finished(tmp_path):
    """Return what makes an experiment whose runs have these labels, all of the same replay."""
    write(tmp_path, [record(n, 10 * n, 60, 3) for n in range(1, 5)])
    (tmp_path / "base.yaml").write_text(BASE)
    directory = run(tmp_path / "base.yaml", tmp_path / "run").directory
    return lambda *labels: Finished({}, [LabelledRun(one, directory) for one in labels], [])


def test_a_figure_takes_all_of_its_runs(finished, tmp_path):
    """Figure 5 compares two runs, figure 7 is about one."""
    drawing = Drawing(tmp_path / "figures", {"png": 50}, whole=False)

    def drawn(*labels):
        return [picture.files[0].name for picture in draw_queues(finished(*labels), drawing)]

    assert drawn() == drawn(SAF) == drawn(CP_AF) == []
    assert drawn(SAF, CP_AF) == ["figure-5.png"]
    assert drawn(CP_P2SF) == ["figure-7.png"]
    assert drawn(SAF, CP_AF, CP_P2SF) == ["figure-5.png", "figure-7.png"]
