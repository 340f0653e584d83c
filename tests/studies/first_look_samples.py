"""Small logs in several formats."""

import gzip
import json
import re
from pathlib import Path

HEADER = "; Version: 2.2\n; MaxNodes: 4\n; MaxProcs: 8\n"
RECORDS = "".join(
    f"{n} {n * 10} {n % 3} {50 + n % 7 * 30} 2 -1 -1 {1 + n % 4} 300 -1 1 {n % 3} 1 1 1 1 -1 -1\n"
    for n in range(1, 81)
)
SWF = HEADER + RECORDS
NO_PROCESSORS = re.sub(r" 2 -1 -1 \d", " -1 -1 -1 -1", SWF)
SACCT = (
    "JobID|Submit|Start|End|Timelimit|NNodes|NCPUS|ReqMem|AllocTRES|Partition|User|State\n"
    "7|2024-03-04T00:00:00|2024-03-04T00:01:00|2024-03-04T00:11:00|01:00:00|1|4|8G|"
    "billing=4,cpu=4,mem=8G,node=1|cpu|anna|COMPLETED\n"
)
PBS = (
    "03/04/2024 00:11:00;E;7.server;user=anna queue=cpu ctime=1709510400 qtime=1709510400"
    " start=1709510460 end=1709511060 Resource_List.ncpus=4 Resource_List.walltime=01:00:00"
    " resources_used.walltime=00:10:00\n"
)
BATSIM = json.dumps(
    {
        "nb_res": 4,
        "jobs": [{"id": "w0!1", "subtime": 0, "res": 2, "walltime": 100, "profile": "p"}],
        "profiles": {"p": {"type": "delay", "delay": 60}},
    }
)
TABLE = "job_id,submit,run\n1,0,60\n"
ALEA = "0 9 0 50 2 1 1 2 60 4096 1 6 1 1 -1 1 1 1 {7,7} q_1d 1:ppn=2\n"
SCENARIO = "name: x\nsystem:\n  groups: []\n"


def written(folder: Path, text: str, name: str = "log", *, packed: bool = False) -> Path:
    """Write a file, maybe packed by gzip, and return its path."""
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    return path
