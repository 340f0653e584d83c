"""Licences of a cluster, as shared resources."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from hpcsched_slurm.syntax.gres import license_resource
from hpcsched_slurm.syntax.slurm_lines import pairs_of
from hpcsched_slurm.versions import FAULTS, fault_in_words


class Licenses(NamedTuple):
    """Number of licences that jobs can hold together, by shared resource, and warnings."""

    present: Mapping[str, int]
    warnings: tuple[str, ...] = ()


NO_LICENSES = Licenses({})


def read_licenses(licenses: Iterable[Mapping[str, Any]]) -> Licenses:
    """Return the licences of a cluster, without those that are reserved or used by others."""
    present: dict[str, int] = {}
    told: list[str] = []
    for one in licenses:
        try:
            name = str(one["LicenseName"])
            if one.get("Nodes"):
                raise ValueError(f"it is for jobs on the nodes {one['Nodes']} alone")
            left = int(one["Total"]) - int(one.get("Reserved") or 0)
            present[license_resource(name)] = max(0, left - int(one.get("LastDeficit") or 0))
        except FAULTS as error:
            name, fault = one.get("LicenseName", "without a name"), fault_in_words(error)
            told.append(f"the licence {name} is not understood, and left to Slurm: {fault}")
    return Licenses(present, tuple(told))


def licenses_of_text(text: str) -> list[Mapping[str, Any]]:
    """Return the licences that `scontrol show licenses --oneliner` prints."""
    keys = {"licensename": "LicenseName", "total": "Total", "reserved": "Reserved"}
    keys |= {"lastdeficit": "LastDeficit", "nodes": "Nodes"}
    listed = [pairs_of(line) for line in text.splitlines()]
    return [
        {keys[key]: value for key, value in pairs.items() if key in keys}
        for pairs in listed
        if "licensename" in pairs
    ]
