"""Runs of a comparison, figure or report: chosen by path or name, with labels, traces and seeds."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from hpcsched.errors import Finding, InputError
from hpcsched.report.run_choice import INDEX, run_folder
from hpcsched.runs.directory import RunDirectory
from hpcsched.runs.files import MANIFEST, SUMMARY, read_json
from hpcsched.runs.manifest import read_manifest
from hpcsched.scenario.resolved import read_resolved_values
from hpcsched.whole_files import file_error

_Parts: TypeAlias = tuple[str, ...]

_AXES = ", "
"""Separator of the labels of an experiment's cell, which are left whole."""
_LETTER = re.compile(r"[^\W\d_]")
_IN_BRACKETS = re.compile(r"\((?:[^()]|\([^()]*\))*\)")


def short_labels(names: Iterable[str]) -> dict[str, str]:
    """Return a label for each name: the name without the common beginning and end of all names.

    Names are cut at `-`, `_`, `/` and before brackets, those of experiments between axes. Each
    label has a letter, and different names have different labels.

    Examples
    --------
    >>> short_labels(["kth-easy", "kth-list-sjf"])
    {'kth-easy': 'easy', 'kth-list-sjf': 'list-sjf'}
    """
    whole = list(dict.fromkeys(names))
    cuts = f"(?<={_AXES})" if all(_AXES in name for name in whole) else r"(?<=[-_/])|(?= \()"
    parts = [tuple(re.split(cuts, name)) for name in whole]
    if len(whole) < 2 or not _are_labels(parts):
        return {name: name for name in whole}
    for step in (1, -1):
        shared = len(list(takewhile(_alike, zip(*(own[::step] for own in parts), strict=False))))
        while shared:
            rest = [own[shared:] if step == 1 else own[:-shared] for own in parts]
            if _are_labels(rest):
                parts = rest
                break
            shared -= 1
    return dict(zip(whole, map(_label, parts), strict=True))


def _alike(parts: Sequence[str]) -> bool:
    return len({part.strip(" ,-_/") for part in parts}) == 1


def _are_labels(parts: Sequence[_Parts]) -> bool:
    """Return whether parts are labels: each has a letter, and no two are the same."""
    labels = [_label(own) for own in parts]
    whole = all(_LETTER.search(one) and one.count("(") == one.count(")") for one in labels)
    return whole and len(set(labels)) == len(labels)


def _label(parts: _Parts) -> str:
    """Return parts as text, without separators at the ends and brackets around it."""
    text = "".join(parts).strip(" ").rstrip(",-_/ ")
    # What stood before may have held the bracket that ends here.
    text = text[: len(text) - (text.count(")") > text.count("("))]
    return text[1:-1] if _IN_BRACKETS.fullmatch(text) else text


@dataclass(frozen=True, slots=True)
class StudiedRun:
    """A run of a study: configuration (the variation), group (the trace), seed.

    Runs of the same configuration and group differ by `seed`; figures take colours from the
    dispatcher.
    """

    run: RunDirectory
    name: str
    configuration: str
    group: str
    seed: int
    dispatcher: str


@dataclass(frozen=True, slots=True)
class Study:
    """Runs in the order given, and sentences about runs that were left out."""

    runs: tuple[StudiedRun, ...]
    warnings: tuple[str, ...] = ()

    @property
    def configurations(self) -> tuple[str, ...]:
        """Configurations in the order of the runs."""
        return tuple(dict.fromkeys(run.configuration for run in self.runs))

    @property
    def groups(self) -> tuple[str, ...]:
        """Traces in the order of the runs."""
        return tuple(dict.fromkeys(run.group for run in self.runs))

    @property
    def cases(self) -> Mapping[tuple[str, str], list[StudiedRun]]:
        """Runs by configuration and trace; those of one case differ by seed."""
        found: dict[tuple[str, str], list[StudiedRun]] = defaultdict(list)
        for one in self.runs:
            found[one.configuration, one.group].append(one)
        return found

    @property
    def run_labels(self) -> Mapping[str, str]:
        """Labels of the runs by name."""
        return short_labels(run.name for run in self.runs)

    @property
    def configuration_labels(self) -> Mapping[str, str]:
        """Labels of the configurations by name."""
        return short_labels(self.configurations)

    @property
    def labels(self) -> Mapping[str, str]:
        """Labels of configurations and runs by name; the former count where a name is both."""
        return {**self.run_labels, **self.configuration_labels}


class _Found(NamedTuple):
    """A run with its labels in an experiment, by axis; without labels if given alone."""

    run: RunDirectory
    labels: Mapping[str, str]

    @property
    def seed(self) -> int:
        """The seed of the run."""
        return self.run.manifest.seed


def open_study(paths: Sequence[Path]) -> Study:
    """Open runs given by path or name."""
    warnings: list[str] = []
    found = [one for path in paths for one in _found(run_folder(path), warnings)]
    # A folder and a run in it may both be given; symbolic links too mean one run.
    unlike = {one.run.path.resolve(): one for one in found}
    return Study(tuple(_named(list(unlike.values()))), tuple(warnings))


def _found(path: Path, warnings: list[str]) -> Iterator[_Found]:
    if (path / MANIFEST).is_file() or not path.is_dir():
        yield _Found(RunDirectory.open(path), {})
        return
    if (path / INDEX).is_file():
        folders = _cells(path, warnings)
    else:
        # Sorted, as file systems list in different orders and the first run is the baseline.
        folders = {folder: {} for folder in sorted(file.parent for file in path.rglob(MANIFEST))}
    opened = [folder for folder in folders if _has_ended(folder, warnings)]
    if not opened:
        raise file_error(
            "not-a-run", path, "it is not a run directory, and holds none that has ended"
        )
    for folder in opened:
        yield _Found(RunDirectory.open(folder), folders[folder])


def _has_ended(folder: Path, warnings: list[str]) -> bool:
    status = read_manifest(folder).status
    if status == "running":
        warnings.append(f"{folder} has not come to an end and is left out")
    # A run that fails before its first event has a manifest and little else.
    elif status != "complete" and not (folder / SUMMARY).is_file():
        warnings.append(f"{folder} has status {status}, has no {SUMMARY} and is left out")
    else:
        return True
    return False


def _cells(folder: Path, warnings: list[str]) -> dict[Path, Mapping[str, str]]:
    """Return the labels of an experiment's cells by axis, by the folder of their run."""
    path = folder / INDEX
    found: dict[Path, Mapping[str, str]] = {}
    try:
        for cell in read_json(path)["cells"]:
            # A run in its place is complete, while the index may be that of the experiment's begin.
            if ((run := folder / cell["run"]) / MANIFEST).is_file():
                labels = cell["labels"].items()
                found[run] = {str(axis): str(label) for axis, label in labels}
            else:
                warnings.append(f"{folder}: {cell['name']} has no run and is left out")
    except (KeyError, TypeError, AttributeError) as error:
        message = f"it is damaged: a cell lacks {error}"
        raise file_error("damaged-file", path, message) from error
    return found


def _named(found: Sequence[_Found]) -> Iterator[StudiedRun]:
    declared = [read_resolved_values(one.run.scenario_path) for one in found]
    groups = _groups(found, declared)
    dispatchers = [
        _dispatcher(scenario) or one.run.manifest.scenario
        for one, scenario in zip(found, declared, strict=True)
    ]
    configurations = _configurations(found, groups, dispatchers)
    seeds = [one.seed for one in found]
    # Runs that share configuration, trace and seed are told apart by their directories.
    counts = Counter(cases := list(zip(configurations, groups, seeds, strict=True)))
    configurations = [
        f"{case[0]} ({one.run.path})" if counts[case] > 1 else case[0]
        for case, one in zip(cases, found, strict=True)
    ]
    # The shortest names that distinguish the runs: configuration, then trace, then seed.
    names = configurations
    for more in (groups, [f"seed {seed}" for seed in seeds]):
        shared = Counter(names)
        if len(set(more)) > 1:
            names = [
                f"{name} ({extra})" if shared[name] > 1 else name
                for name, extra in zip(names, more, strict=True)
            ]
    runs = [one.run for one in found]
    yield from map(StudiedRun, runs, names, configurations, groups, seeds, dispatchers)


def _dispatcher(declared: Mapping[str, Any]) -> str:
    """Return the dispatcher's name, with the order of the queue unless that is by arrival."""
    dispatcher = declared.get("dispatcher")
    if not isinstance(dispatcher, Mapping):
        return str(dispatcher or "")
    order = dispatcher.get("order")
    by = order.get("name") if isinstance(order, Mapping) else order
    name = str(dispatcher.get("name", ""))
    return f"{name} {by}" if by and by != "fcfs" else name


def _groups(found: Sequence[_Found], declared: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the name of each run's trace; different traces of one name get a number."""
    keys = []
    for one, scenario in zip(found, declared, strict=True):
        files = one.run.manifest.trace_files
        trace = scenario.get("trace")
        # A trace that comes from no file is its declaration; seeds are replicas of it.
        key = [file.sha256 for file in files] or json.dumps(trace, sort_keys=True, default=str)
        source = trace.get("source", "trace") if isinstance(trace, Mapping) else "trace"
        stem = "+".join(Path(file.path).name.partition(".")[0] for file in files) or str(source)
        keys.append((stem, str(key)))
    # Numbers in the order of appearance tell apart files of one name and other content.
    numbers: dict[str, dict[str, int]] = defaultdict(dict)
    for stem, key in keys:
        numbers[stem].setdefault(key, len(numbers[stem]) + 1)
    return [
        stem if len(numbers[stem]) == 1 else f"{stem} ({numbers[stem][key]})" for stem, key in keys
    ]


def _configurations(
    found: Sequence[_Found], groups: Sequence[str], dispatchers: Sequence[str]
) -> list[str]:
    """Return the labels that distinguish the runs, without those of a trace or a seed.

    A run that is not an experiment's has the name of its scenario.
    """
    labels: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for one, group in zip(found, groups, strict=True):
        for axis, label in one.labels.items():
            labels[axis][group].add(label)
    # An axis that only names traces, one label each, or seeds distinguishes no configurations.
    telling = [
        axis
        for axis, by_group in labels.items()
        if axis != "seed"
        and (
            len(set().union(*by_group.values())) == 1
            or any(len(of_group) > 1 for of_group in by_group.values())
        )
    ]
    return [
        ", ".join(one.labels[axis] for axis in telling if axis in one.labels)
        or (dispatcher if one.labels else one.run.manifest.scenario)
        for one, dispatcher in zip(found, dispatchers, strict=True)
    ]


def pick_run(wanted: str, runs: Sequence[StudiedRun], folder: Path | None = None) -> StudiedRun:
    """Return the run that is meant by a name, a label or a directory.

    The name is the run's, that of its scenario, or what was varied. The folder that holds the runs
    is for the error; None for a baseline.
    """
    labels = short_labels(one.name for one in runs)
    found = (
        [one for one in runs if one.name == wanted]
        or [
            one
            for one in runs
            if wanted in (one.configuration, one.run.manifest.scenario)
            or Path(wanted) == one.run.path
        ]
        or [one for one in runs if labels[one.name] == wanted]
    )
    if len(found) == 1:
        return found[0]
    what = "is the name of several runs; give a directory" if found else "is none of these runs"
    there = ", ".join(one.name for one in runs)
    message = f"{wanted!r} {what}; there are: {there}"
    if folder is not None:
        raise file_error("unknown-run", folder, message)
    raise InputError(Finding("unknown-baseline", message))
