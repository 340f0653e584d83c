"""The types that plugins are given and return, as the reference of types has them."""

import inspect
from collections.abc import Iterator
from functools import cached_property
from importlib import import_module
from types import MappingProxyType
from typing import Any

from hook_reference import documented, field_line, member_text, plain, signature
from paragraphs import paragraphs

import hpcsched

MODULES = MappingProxyType(
    {
        "plan": "hpcsched.dispatching.planned_cost",
        "data": "hpcsched.dispatching.planning.model_data",
        "formulation": "hpcsched.dispatching.cp.formulation",
        "scheduling": "hpcsched.dispatching.cp.formulations.scheduling",
        "dispatchers": "hpcsched.dispatching.cp.cp_dispatchers",
        "params": "hpcsched.dispatching.cp.cp_params",
        "limits": "hpcsched.dispatching.cp.backends.backend",
        "outcome": "hpcsched.dispatching.cp.backends.backend",
        "any_solver": "hpcsched.dispatching.cp.backends.any_solver",
        "tables": "hpcsched.metrics.metric",
        "cluster": "hpcsched.system.cluster",
        "executor": "hpcsched.studies.executors.executor",
    }
)
"""Modules of names that are not imported from `hpcsched` itself."""

TYPES = MappingProxyType(
    {
        "types-jobs": (
            *("Job", "TracedJob", "Request", "TraceAccount", "TraceAnswer"),
            *("System", "NodeGroup", "NodeAllocation", "room_for", "capped"),
        ),
        "types-dispatching": (
            *("DispatchingProblem", "WaitingJob", "RunningJob", "Decision", "Start", "Reason"),
            *("open_workspace", "Workspace", "Room", "fill", "KeyOrder"),
        ),
        "types-costs": ("plan:PlannedCost", "plan:linear", "plan:weighted_sum"),
        "types-models": (
            *("data:ModelData", "Formulation", "ModelParts", "formulation:BuiltModel"),
            *("dispatchers:cp_dispatcher", "limits:Budget", "limits:StoppingRule"),
            "outcome:Outcome",
        ),
        "types-records": (
            "JobRecord",
            "RoundRecord",
            "Interruption",
            "RunTables",
            "tables:Table",
            "tables:whole_column",
        ),
        "types-clusters": (
            *("cluster:ClusterState", "cluster:ClusterNode", "cluster:ClusterJob"),
            *("cluster:RefusedError", "cluster:UnavailableError"),
        ),
        "types-tasks": (
            *("executor:Task", "executor:Ended", "executor:new_attempt", "executor:carry_out"),
        ),
        "types-context": ("Context", "Caution"),
    }
)
"""Names by region of the page; those of a module of their own after its key in `MODULES`."""


def type_sections() -> dict[str, str]:
    """Return the sections of all regions, by the names of the regions."""
    return {
        region: "\n\n".join(part for name in names for part in _section(name))
        for region, names in TYPES.items()
    }


def _section(name: str) -> Iterator[str]:
    """Yield what a type has, or what a function takes and returns."""
    key, _, name = name.rpartition(":")
    module = MODULES[key] if key else "hpcsched"
    found = getattr(import_module(module), name) if key else getattr(hpcsched, name)
    yield f"### {name}"
    if inspect.isfunction(found):
        yield f"`{module}.{name}{signature(found)}`: {member_text(found)}"
        return
    head, sections = documented(inspect.getdoc(found) or "")
    yield f"`{module}.{name}`. {paragraphs(head)}"
    lines = [*_fields(found, sections["Attributes"] + sections["Parameters"]), *_methods(found)]
    if lines:
        yield "\n".join(lines)


def _fields(owner: Any, entries: list[tuple[str, str]]) -> Iterator[str]:
    """Yield a line for each field of a class and each property: name, type and meaning."""
    types: dict[str, str] = {}
    for base in reversed(owner.__mro__[:-1]):
        annotations = inspect.get_annotations(base)
        types |= {name: plain(annotation) for name, annotation in annotations.items()}
    if not types and "__init__" in vars(owner):
        # Attributes that the constructor sets: those that the docstring tells of.
        given = inspect.signature(owner.__init__).parameters
        names = [name for names, _ in entries for name in names.split(", ")]
        types = {name: plain(given[name].annotation) if name in given else "" for name in names}
    told = {}
    for names, text in entries:
        known = [name for name in names.partition(" : ")[0].split(", ") if name in types]
        told |= dict.fromkeys(known, (known, text))
    shown: set[str] = set()
    for name in types:
        known, text = told.get(name, ([name], ""))
        if name not in shown and name[0] != "_":
            kinds = dict.fromkeys(types[one] for one in known)
            yield field_line(known, kinds, text)
            shown.update(known)
    for name, value in _own(owner):
        read = value.fget if isinstance(value, property) else value.func if _cached(value) else None
        if read is not None:
            returned = plain(inspect.signature(read).return_annotation)
            head, _ = documented(inspect.getdoc(read) or "")
            if head.startswith("Cache"):
                continue
            yield field_line([name], [returned], " ".join(head.split()))


def _methods(owner: Any) -> Iterator[str]:
    for name, value in _own(owner):
        if inspect.isfunction(value):
            yield f"- `{name}{signature(value)}`: {member_text(value)}"


def _own(owner: Any) -> Iterator[tuple[str, Any]]:
    """Yield the public members that the package defines, those of base classes included."""
    for base in reversed(owner.__mro__[:-1]):
        if base.__module__.startswith("hpcsched."):
            yield from ((name, value) for name, value in vars(base).items() if name[0] != "_")


def _cached(value: object) -> bool:
    return isinstance(value, cached_property)
