"""Runs of a comparison, figure or report: chosen by path or name, with traces and seeds."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from hpcsched.errors import Finding, InputError
from hpcsched.report.run_choice import INDEX, run_folder
from hpcsched.report.run_labels import short_labels
from hpcsched.runs.directory import RunDirectory
from hpcsched.runs.files import MANIFEST, SUMMARY, read_json
from hpcsched.runs.manifest import read_manifest
from hpcsched.scenario.resolved import read_resolved_values
from hpcsched.whole_files import problem


@dataclass(frozen=True, slots=True)
class StudiedRun:
    """A run of a study.

    Attributes
    ----------
    configuration
        Variant that it belongs to, such as a dispatcher with a predictor.
    group
        Trace; runs of the same configuration and group differ by `seed`.
    dispatcher
        Rule or solver; figures take their colours from it.
    """

    run: RunDirectory
    name: str
    configuration: str
    group: str
    seed: int
    dispatcher: str


@dataclass(frozen=True, slots=True)
class Study:
    """Runs in the order given.

    Attributes
    ----------
    warnings
        Sentences about runs that were left out.
    """

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
        yield from _of_experiment(path, warnings)
        return
    # Sorted, as file systems list in different orders and the first run is the baseline.
    inside = sorted(manifest.parent for manifest in path.rglob(MANIFEST))
    opened = [run for run in inside if _has_ended(run, warnings)]
    if not opened:
        raise problem("not-a-run", path, "it is not a run directory, and holds none that has ended")
    for run in opened:
        yield _Found(RunDirectory.open(run), {})


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


def _of_experiment(folder: Path, warnings: list[str]) -> Iterator[_Found]:
    """Yield the finished runs of an experiment, in the order of its index."""
    found = False
    for cell in _cells(folder):
        if cell.folder is None or not (cell.folder / MANIFEST).is_file():
            warnings.append(f"{folder}: {cell.name} has no run and is left out")
        elif _has_ended(cell.folder, warnings):
            found = True
            yield _Found(RunDirectory.open(cell.folder), cell.labels)
    if not found:
        raise problem("not-a-run", folder, "none of the experiment's runs has ended")


class _Cell(NamedTuple):
    """A cell of an experiment's index: name, labels by axis, and the folder of a complete run."""

    name: str
    labels: Mapping[str, str]
    folder: Path | None


def _cells(folder: Path) -> list[_Cell]:
    """Return the cells of an experiment's index; raises InputError where it is damaged."""
    path = folder / INDEX
    content = read_json(path)
    try:
        return [
            _Cell(
                cell["name"],
                {str(axis): str(label) for axis, label in cell["labels"].items()},
                folder / cell["run"] if cell["status"] == "complete" else None,
            )
            for cell in content["cells"]
        ]
    except (KeyError, TypeError, AttributeError) as error:
        message = f"it is damaged: a cell lacks {error}"
        raise problem("damaged-file", path, message) from error


def _named(found: Sequence[_Found]) -> Iterator[StudiedRun]:
    declared = [read_resolved_values(one.run.scenario_path) for one in found]
    groups = _groups(found, declared)
    dispatchers = [
        _dispatcher(scenario) or one.run.manifest.scenario
        for one, scenario in zip(found, declared, strict=True)
    ]
    configurations = _told_apart(_configurations(found, groups, dispatchers), groups, found)
    names = _names(configurations, groups, [one.seed for one in found])
    for k, one in enumerate(found):
        yield StudiedRun(
            one.run,
            names[k],
            configurations[k],
            groups[k],
            one.seed,
            dispatchers[k],
        )


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
    axes = dict.fromkeys(axis for one in found for axis in one.labels)
    # An axis that only names traces or seeds distinguishes no configurations.
    telling = [axis for axis in axes if axis != "seed" and not _names_groups(axis, found, groups)]
    return [
        ", ".join(one.labels[axis] for axis in telling if axis in one.labels)
        or (dispatcher if one.labels else one.run.manifest.scenario)
        for one, dispatcher in zip(found, dispatchers, strict=True)
    ]


def _names_groups(axis: str, found: Sequence[_Found], groups: Sequence[str]) -> bool:
    """Return whether an axis only names the trace: one label for each trace, several in all."""
    labels: dict[str, set[str]] = defaultdict(set)
    for one, group in zip(found, groups, strict=True):
        if axis in one.labels:
            labels[group].add(one.labels[axis])
    return len(set().union(*labels.values())) > 1 and all(len(s) == 1 for s in labels.values())


def _told_apart(
    configurations: Sequence[str], groups: Sequence[str], found: Sequence[_Found]
) -> list[str]:
    """Return unique configurations: with the directory where several share trace and seed."""
    same = list(zip(configurations, groups, (one.seed for one in found), strict=True))
    counts = Counter(same)
    return [
        f"{configuration} ({one.run.path})" if counts[key] > 1 else configuration
        for configuration, key, one in zip(configurations, same, found, strict=True)
    ]


def _names(configurations: Sequence[str], groups: Sequence[str], seeds: Sequence[int]) -> list[str]:
    """Return the shortest names that distinguish the runs: configuration, then trace, then seed."""
    names = list(configurations)
    for more in (groups, [f"seed {seed}" for seed in seeds]):
        counts = Counter(names)
        if len(set(more)) > 1:
            names = [
                f"{name} ({extra})" if counts[name] > 1 else name
                for name, extra in zip(names, more, strict=True)
            ]
    return names


def pick_run(wanted: str, runs: Sequence[StudiedRun], folder: Path | None = None) -> StudiedRun:
    """Return the run that is meant by a name or a directory.

    Parameters
    ----------
    wanted
        A run's name; what was varied, such as a dispatcher; the name of its scenario; its
        directory; or its label.
    folder
        The folder that holds the runs, for the error; None for a baseline.
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
        raise problem("unknown-run", folder, message)
    raise InputError(Finding("unknown-baseline", message))
