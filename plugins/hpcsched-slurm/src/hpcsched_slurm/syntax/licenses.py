"""Licences: `matlab:2,comsol@flex:1` of a job or of a cluster.

Source: the manual pages `sbatch` (`--licenses`) and `slurm.conf` (`Licenses`) of SchedMD.
"""

import re

from hpcsched_slurm.syntax.resource_types import resource_type

PREFIX = "license_"
"""Beginning of the names of shared resources that stand for licences."""

_ITEM = re.compile(r"([^\s:*,;|]+)(?:[:*]([0-9]{1,9}))?")


def license_resource(name: str) -> str:
    """Return the name of the shared resource that stands for a licence.

    Examples
    --------
    >>> license_resource("matlab"), license_resource("Comsol@flex")
    ('license_matlab', 'license_comsol_flex')
    """
    return PREFIX + resource_type(name).removeprefix("gres_")


def parse_licenses(text: str) -> dict[str, int]:
    """Return the number of each licence of a list; 1 if not stated.

    Raises
    ------
    ValueError
        If the text is no such list, or has alternatives (`a|b`).

    Examples
    --------
    >>> parse_licenses("matlab:2,comsol")
    {'matlab': 2, 'comsol': 1}
    """
    found: dict[str, int] = {}
    for item in filter(None, re.split("[,;]", text.strip())):
        match = _ITEM.fullmatch(item.strip())
        if match is None:
            raise ValueError(f"expected licences such as matlab:2,comsol, found {text!r}")
        found[match[1]] = found.get(match[1], 0) + int(match[2] or 1)
    return found
