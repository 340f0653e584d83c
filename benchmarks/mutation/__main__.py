"""Mutation testing of the packages whose rules matter most: `make mutation`."""

import argparse
import os
import random
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

from benchmarks.mutation import asking, explained
from benchmarks.mutation.mutants import Mutant, mutants_of
from benchmarks.mutation.related import PACKAGES, tests_of
from benchmarks.mutation.results import Results

RESULTS = Path("build/mutation")
COLUMNS = (asking.KILLED, asking.TIMED_OUT, asking.SURVIVED, asking.NO_TEST)
MISSED = (asking.SURVIVED, asking.NO_TEST)


def main() -> int:
    """Try mutants, tell what came out, and return 1 if some survive without an explanation."""
    options = parsed()
    root = Path.cwd()
    rows, left = [], []
    for package in PACKAGES:
        parts = [part for part in options.of or PACKAGES if within(part, package)]
        if parts:
            row, unexplained = of_package(package, parts, options, root)
            rows.append(row)
            left += unexplained
    if not rows:
        sys.exit(
            f"no mutants here: {', '.join(options.of)}; expected parts of {', '.join(PACKAGES)}"
        )
    print("\n".join(table(rows)))
    for mutant, result in left:
        print(f"\n{mutant.file}:{mutant.line} {mutant.function} [{mutant.operator}] {result}")
        print(f"  was {mutant.was}\n  now {mutant.now}")
    return 1 if left else 0


def parsed() -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mutation", description=__doc__)
    parser.add_argument("of", nargs="*", help="packages or files of these; all unless given")
    parser.add_argument("--sample", type=int, help="try this many mutants of each package")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="mutants at a time")
    parser.add_argument(
        "--again", action="store_true", help="try only those that nothing killed last time"
    )
    parser.add_argument(
        "--quick", action="store_true", help="without the dear tests; ask all of them with --again"
    )
    parser.add_argument(
        "--resume", action="store_true", help="try only those of which nothing is known yet"
    )
    return parser.parse_args()


def within(part: str, package: str) -> bool:
    """Tell whether a path is a package or a part of it."""
    return part.rstrip("/") == package or part.startswith(f"{package}/")


def of_package(
    package: str, parts: list[str], options: argparse.Namespace, root: Path
) -> tuple[dict[str, object], list[tuple[Mutant, str]]]:
    """Try mutants of a package; return the row of the table, and what nothing explains.

    Both tell all that is known of these files: of mutants tried earlier too with `--again` and
    `--resume`.
    """
    began = time.monotonic()
    files = files_of(parts, root)
    every = [mutant for file in files for mutant in mutants_of(root, file)]
    results = Results(RESULTS / (package.replace("/", ".") + ".jsonl"))
    if not options.again and not options.resume:
        results.forget(files)
    known = results.read()
    mutants = every
    if options.again:
        mutants = [mutant for mutant in every if known.get(mutant.key) in MISSED]
    if options.sample is not None and options.sample < len(mutants):
        mutants = random.Random(options.seed).sample(mutants, options.sample)
    if options.resume:
        mutants = [mutant for mutant in mutants if mutant.key not in known]
    asking.say(f"{package}: {len(mutants)} of {len(every)} mutants")
    # Those that survive take longest, and which these are is known of some.
    entries = explained.read()
    mutants.sort(key=lambda mutant: any(entry.holds_for(mutant) for entry in entries))
    for tests, group in alike(mutants, quick=options.quick).items():
        asking.ask(group, list(tests), root, jobs=options.jobs, tell=results.add)
    known = results.read()
    tried = [mutant for mutant in every if mutant.key in known]
    survived = [mutant for mutant in tried if known[mutant.key] in MISSED]
    left = [
        (mutant, known[mutant.key])
        for mutant in survived
        if not any(entry.holds_for(mutant) for entry in entries)
    ]
    if len(tried) == len(every):
        for entry in explained.unused(entries, every, survived):
            asking.say(f"explained.toml: explains nothing now: {entry}")
    counts = Counter(known[mutant.key] for mutant in tried)
    row: dict[str, object] = {"package": package, "mutants": len(every), "tried": len(tried)}
    row |= {column: counts[column] for column in COLUMNS}
    row |= {
        "explained": len(survived) - len(left),
        "unexplained": len(left),
        "minutes": round((time.monotonic() - began) / 60, 1),
    }
    return row, left


def alike(mutants: Iterable[Mutant], *, quick: bool) -> dict[tuple[str, ...], list[Mutant]]:
    """Return the mutants by their related tests."""
    groups = defaultdict(list)
    for mutant in mutants:
        groups[tests_of(mutant.file, quick=quick)].append(mutant)
    return groups


def files_of(parts: Iterable[str], root: Path) -> list[str]:
    """Return the source files in these files and folders, relative to the root."""
    found: set[Path] = set()
    for part in parts:
        path = root / part
        if not path.exists():
            sys.exit(f"no such file or folder: {part}")
        found |= {path} if path.is_file() else set(path.rglob("*.py"))
    return sorted(str(path.relative_to(root)) for path in found)


def table(rows: list[dict[str, object]]) -> list[str]:
    """Return the rows as a table in Markdown."""
    head = list(rows[0])
    lines = [head, ["---"] * len(head), *([str(row[name]) for name in head] for row in rows)]
    return ["| " + " | ".join(line) + " |" for line in lines]


if __name__ == "__main__":
    sys.exit(main())
