"""The resolved scenario: all defaults filled in, units as numbers, paths absolute."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from hpcsched.scenario.models import Scenario
from hpcsched.scenario.partitions import PartitionDeclaration, build_partitions
from hpcsched.scenario.system import SystemDeclaration
from hpcsched.scenario.yaml_core import StrictDumper
from hpcsched.system.system import System
from hpcsched.whole_files import problem
from hpcsched.workload.site_partitions import Partitions


def resolved_values(scenario: Scenario) -> dict[str, Any]:
    """Return every key of a scenario with its value, in the order in which keys are declared."""
    return scenario.model_dump(mode="json")


def resolved_yaml(scenario: Scenario) -> str:
    """Return a scenario as YAML that loads again to an equal scenario."""
    return yaml.dump(
        resolved_values(scenario),
        Dumper=StrictDumper,
        sort_keys=False,
        allow_unicode=True,
        default_flow_style=False,
        width=100,
    )


def read_resolved_values(path: Path) -> Mapping[str, Any]:
    """Return the plain values of a resolved scenario, without validation.

    Reports read runs whose plugins need not be installed.

    Raises
    ------
    InputError
        If the file is damaged.
    """
    try:
        # The C loader, where it is there, is far faster, which counts for experiments of many runs.
        # `StrictDumper` writes what YAML 1.1 and 1.2 read alike.
        text = path.read_text(encoding="utf-8")
        content = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (OSError, ValueError, yaml.YAMLError) as error:
        message = f"it is damaged: {' '.join(str(error).split())}"
        raise problem("damaged-file", path, message) from error
    if not isinstance(content, dict):
        raise problem("damaged-file", path, "it is damaged: it holds no mapping")
    return content


def read_system(path: Path) -> System:
    """Return the system of a resolved scenario; see `read_resolved_values`.

    Raises
    ------
    InputError
        If the file is damaged.
    """
    values = read_resolved_values(path)
    try:
        return SystemDeclaration.model_validate(values["system"]).build()
    except (ValueError, KeyError) as error:
        message = "it is damaged: the system cannot be read from it"
        raise problem("damaged-file", path, message) from error


def read_partitions(path: Path) -> Partitions:
    """Return the partitions of a resolved scenario, maybe none; see `read_resolved_values`.

    Raises
    ------
    InputError
        If the file is damaged.
    """
    values = read_resolved_values(path)
    try:
        declared = map(PartitionDeclaration.model_validate, values.get("partitions") or ())
        return build_partitions(tuple(declared))
    except (ValueError, TypeError) as error:
        message = "it is damaged: the partitions cannot be read from it"
        raise problem("damaged-file", path, message) from error
