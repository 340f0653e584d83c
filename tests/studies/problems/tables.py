"""Tables of solved problems, made by hand."""

from pathlib import Path

from hpcsched.studies.problems.solving import About, Instances, Row, SolvedTable, write_table

SHA = "ab" * 32
ABOUT = About(
    format=2,
    name="a",
    dispatcher={"name": "list"},
    objective={"name": "slowdown"},
    seed=0,
    scenario="name: a\n",
    instances=Instances(file="x.jsonl.gz", sha256=SHA, scenario="tiny"),
    versions={},
    plugins={},
    platform="here",
)


def row(
    number: int,
    seconds: float = 1.0,
    objective: float | None = None,
    variables: int | None = None,
    *,
    jobs: int = 5,
    started: float = 0.0,
    fallback: bool = False,
    fails: int | None = None,
) -> Row:
    """Return a row; a solver was asked where there are variables."""
    solver = (None,) * 8
    if variables is not None:
        status = "unknown" if objective is None else "feasible"
        solver = (status, jobs, variables, objective, None, 0.1, 0.1, 0.1)
    head = (number, 10 * number, 3, 2, int(started), 0, started, seconds, fallback)
    return Row(*head, *solver, fails=fails)


def table(path: Path, rows: list[Row], **about: object) -> SolvedTable:
    """Write a table and read it back."""
    changed = {"name": path.stem, **about}
    write_table(path, ABOUT.model_copy(update=changed), rows, force=True)
    return SolvedTable.open(path)


def pair(folder: Path) -> tuple[SolvedTable, SolvedTable]:
    """Write tables A and B of ten problems.

    B against A, by problem: 1 better and faster, 2 better and slower, 3 same and as fast, 4 same
    and slower, 5 worse and faster, 6 worse and as fast; 7 not solved by A, 8 not solved by B, 9 no
    solver asked by either, 10 models of different numbers of jobs. Fails are known of the first
    three: half as many, none, twice as many.
    """
    a = [
        row(1, 1.0, 10.0, 100, started=2.0, fails=4),
        row(2, 1.0, 10.0, 100, started=2.0, fails=4),
        row(3, 1.0, 10.0, 100, started=2.0, fails=4),
        row(4, 1.0, 10.0, 100, started=1.0),
        row(5, 1.0, 10.0, 100),
        row(6, 1.0, 10.0, 100),
        row(7, 16.0, None, 100, fallback=True),
        row(8, 1.0, 10.0, 100),
        row(9, 0.001),
        row(10, 1.0, 10.0, 100),
    ]
    b = [
        row(1, 0.5, 5.0, 10, started=3.0, fails=2),
        row(2, 2.0, 8.0, 20, started=2.0, fails=0),
        row(3, 1.05, 10.000001, 30, started=1.0, fails=8),
        row(4, 4.0, 10.0, 40, started=1.0),
        row(5, 0.1, 11.0, 50),
        row(6, 0.95, 20.0, 100),
        row(7, 1.0, 7.0, 200),
        row(8, 16.0, None, 100, fallback=True),
        row(9, 0.002),
        row(10, 1.0, 30.0, 100, jobs=9),
    ]
    return table(folder / "a.parquet", a), table(folder / "b.parquet", b)
