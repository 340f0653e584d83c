"""Lists of trackable resources (TRES): `cpu=8,mem=32G,node=2,gres/gpu=4,gres/gpu:a100=4`.

Source: the page on trackable resources of SchedMD.
"""

from collections.abc import Container

from hpcsched_slurm.syntax.values import NOT_GIVEN, parse_scaled_count, parse_size

GRES = "gres/"
"""Prefix of the names of generic resources."""


def parse_tres(text: str) -> dict[str, int]:
    """Return the amounts of a TRES list by name; memory is in bytes.

    The names `cpu`, `mem`, `node` and `gres/NAME` are read, with or without a type
    (`gres/gpu:a100`); billing, energy, licences and disks are not resources of nodes.

    Raises
    ------
    ValueError
        If the text is no such list.

    Examples
    --------
    >>> parse_tres("cpu=8,mem=1G,gres/gpu=2,billing=8")
    {'cpu': 8, 'mem': 1073741824, 'gres/gpu': 2}
    """
    amounts: dict[str, int] = {}
    if text.strip().lower() in NOT_GIVEN:
        return amounts
    for item in text.split(","):
        name, equals, amount = item.strip().partition("=")
        if not (name and equals):
            raise ValueError(f"expected amounts such as cpu=8,mem=32G, found {item!r}")
        if name == "mem":
            amounts[name] = parse_size(amount)
        # Other entries, such as billing or energy, are no amounts of nodes and are skipped.
        elif name in {"cpu", "node"} or name.startswith(GRES):
            amounts[name] = parse_scaled_count(amount, name)
    return amounts


def counted_in_total(name: str, tres: Container[str]) -> bool:
    """Return whether an amount of one type (`gres/gpu:a100`) is in a listed total (`gres/gpu`).

    Parameters
    ----------
    name
        The name of the amount.
    tres
        All names of the list.
    """
    total, typed, _ = name.partition(":")
    return bool(typed) and total in tres
