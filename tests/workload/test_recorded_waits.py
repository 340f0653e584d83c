"""The wait times that logs record, of each format."""

from collections.abc import Callable
from pathlib import Path

import pytest

from hpcsched.runs.assembly import assemble
from hpcsched.scenario import load_scenario
from hpcsched.system.system import NodeGroup, System
from hpcsched.workload.readers.alea import AleaParams, AleaSource
from hpcsched.workload.readers.pbs_accounting import (
    PbsAccountingParams,
    PbsAccountingSource,
)
from hpcsched.workload.readers.swf import SwfParams, SwfSource
from hpcsched.workload.readers.table import TableParams, TableSource
from hpcsched.workload.trace_source import TraceSource, recorded_waits
from hpcsched_slurm.logs.slurm_sacct import SlurmSacctSource
from hpcsched_slurm.params import SlurmSacctParams

SYSTEM = System((NodeGroup("node", 4, {"core": 16, "mem": 2**40}),))

SWF = "1 10 7 5 1 -1 -1 1 9 -1 1 1 1 1 1 1 -1 -1\n2 11 -1 5 1 -1 -1 1 9 -1 1 1 1 1 1 1 -1 -1\n"
ALEA = "".join(
    f"{k} {submit} {wait} 5 1 -1 -1 1 9 1048576 1 1 1 1 q 1 -1 -1 {{}} q 1:ppn=1\n"
    for k, submit, wait in ((1, 10, 7), (2, 11, -1))
)
SACCT = """\
JobID|Submit|Start|End|Timelimit|NNodes|NCPUS
1|2024-03-01T10:00:00+00:00|2024-03-01T10:00:07+00:00|2024-03-01T11:00:00+00:00|02:00:00|1|1
2|2024-03-01T10:00:01+00:00|2024-03-01T10:00:00+00:00|2024-03-01T11:00:00+00:00|02:00:00|1|1
"""
PBS = "".join(
    f"03/01/2024 11:00:00;E;{k}.host;user=u ctime={submit} start={start} end=99"
    " Resource_List.walltime=01:00:00 Resource_List.select=1:ncpus=1\n"
    for k, submit, start in ((1, 10, 17), (2, 11, 10))
)
TABLE = "submit_time,start_time,run_time,units,requested_time\n10,17,5,1,9\n11,,5,1,9\n"


@pytest.mark.parametrize(
    ("text", "make"),
    [
        (SWF, lambda path: SwfSource(SwfParams(path=path), SYSTEM)),
        (ALEA, lambda path: AleaSource(AleaParams(path=path), SYSTEM)),
        (SACCT, lambda path: SlurmSacctSource(SlurmSacctParams(path=path), SYSTEM)),
        (PBS, lambda path: PbsAccountingSource(PbsAccountingParams(path=path), SYSTEM)),
        (TABLE, lambda path: TableSource(TableParams(path=path), SYSTEM)),
    ],
    ids=["swf", "alea", "slurm-sacct", "pbs-accounting", "table"],
)
def test_waits_of_a_log(tmp_path: Path, text: str, make: Callable[[str], TraceSource]) -> None:
    """Job 1 waited for 7 s; of job 2 none is given, or it would have started before it came."""
    path = tmp_path / "log.csv"
    path.write_text(text)
    source = make(str(path))
    waits = recorded_waits(source)
    assert waits == {}
    for _ in range(2):
        assert [job.job_id for job, _ in source.jobs()] == [1, 2]
        assert waits == {1: 7}


def test_transforms_and_sources_without(tmp_path: Path) -> None:
    """Behind a transform the waits are those of the source; a model has none."""
    (tmp_path / "log.swf").write_text(SWF)
    text = "name: a\nsystem: {groups: [{name: n, count: 4, resources: {core: 1}}]}\n"
    text += "trace: {source: SOURCE, transforms: [{name: first, jobs: 1}]}\ndispatcher: easy\n"
    for source, expected in (("swf, path: log.swf", {1: 7}), ("lublin99, jobs: 3", None)):
        (tmp_path / "a.yaml").write_text(text.replace("SOURCE", source))
        trace = assemble(load_scenario(tmp_path / "a.yaml")).source
        waits = recorded_waits(trace)
        assert len(list(trace.jobs())) == 1
        assert waits == expected
