"""A small scenario over a log of four jobs, for tests that run one and not its details."""

from pathlib import Path

LOG = """\
1 0 -1 60 2 -1 -1 2 60 -1 1 1 -1 -1 -1 -1 -1 -1
2 5 -1 90 2 -1 -1 2 90 -1 1 1 -1 -1 -1 -1 -1 -1
3 6 -1 10 1 -1 -1 1 20 -1 1 2 -1 -1 -1 -1 -1 -1
4 7 -1 30 1 -1 -1 1 30 -1 1 2 -1 -1 -1 -1 -1 -1
"""


def write_scenario(folder: Path, name: str = "small", order: str = "fcfs") -> Path:
    """Write a scenario, and beside it its log unless one is there; return the scenario's file."""
    folder.mkdir(exist_ok=True)
    if not (folder / "log.swf").exists():
        (folder / "log.swf").write_text(LOG)
    path = folder / f"{name}.yaml"
    path.write_text(
        f"name: {name}\n"
        "system: {groups: [{name: node, count: 2, resources: {core: 1}}]}\n"
        "trace: {source: swf, path: log.swf}\n"
        "predictor: requested-time\n"
        f"dispatcher: {{name: list, order: {order}}}\n"
    )
    return path
