"""A site of two partitions, whose log has names, dates and recorded starts; four jobs by hand.

Job 1 has all cores of the partition cpu from 0 to 100 s, and job 2 waits for it: 90 s under EASY,
and 140 s at the site. Jobs 3 and 4 start at once on the GPU node. The log's start of job 4 is
before its submission, which is no recorded start. Demands are half of the system each: areas are
50, 25, 30 and 15.
"""

from pathlib import Path

from typer.testing import CliRunner

from hpcsched.cli import app

COLUMNS = "JobID|Submit|Start|End|Timelimit|NNodes|NCPUS|AllocTRES|Partition|User|Account|QOS\n"
LOG = (
    COLUMNS
    + """\
1|2024-03-01T10:00:00|2024-03-01T10:00:00|2024-03-01T10:01:40|00:01:40|1|4|cpu=4,node=1|cpu|ada|physics|normal
2|2024-03-01T10:00:10|2024-03-01T10:02:30|2024-03-01T10:03:20|00:00:50|1|4|cpu=4,node=1|cpu|bob|physics|normal
3|2024-03-01T10:00:20|2024-03-01T10:00:20|2024-03-01T10:01:20|00:01:00|1|2|cpu=2,node=1,gres/gpu=1|gpu|ada|chemistry|express
4|2024-03-01T10:00:30|2024-03-01T10:00:20|2024-03-01T10:00:50|00:00:30|1|2|cpu=2,node=1,gres/gpu=1|gpu|eve|chemistry|express
"""
)
SCENARIO = """\
name: {name}
system:
  groups:
    - {{name: c, count: 1, resources: {{core: 4}}}}
    - {{name: g, count: 1, resources: {{core: 4, gpu: 2}}}}
partitions:
  - {{name: slow, jobs: {{partition: [cpu]}}, groups: [c]}}
  - {{name: fast, jobs: {{partition: [gpu]}}, groups: [g]}}
trace: {{source: slurm-sacct, path: log.txt, time_zone: Europe/Prague}}
predictor: requested-time
dispatcher: {dispatcher}
objective: af
"""


def write_site(folder: Path, *names: str, log: str = LOG) -> list[Path]:
    """Run the site's log under EASY once for each name, and return the run directories.

    Parameters
    ----------
    folder
        Where the log, the scenarios and the runs are written.
    names
        Names of the runs; `easy` by default.
    log
        The log.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "log.txt").write_text(log)
    paths = []
    for name in names or ("easy",):
        scenario, path = folder / f"{name}.yaml", folder / "runs" / name
        scenario.write_text(SCENARIO.format(name=name, dispatcher="easy"))
        shown("run", scenario, "--out", path, "--explain")
        paths.append(path)
    return paths


def shown(*arguments: str | Path, code: int = 0) -> str:
    """Run a command of hpcsched, and return what it prints."""
    result = CliRunner().invoke(app, list(map(str, arguments)))
    assert result.exit_code == code, result.output
    return result.stdout if code == 0 else result.output
