"""Lists of trackable resources (TRES): `cpu=8,mem=32G,node=2,gres/gpu=4,gres/gpu:a100=4`.

Source: the page on trackable resources of SchedMD.
"""

from collections.abc import Container

from hpcsched.slurm.values import NOT_GIVEN, parse_scaled_count, parse_size

GRES = "gres/"
"""The start of the name of a generic resource."""


def parse_tres(text: str) -> dict[str, int]:
    """Return the amounts of a list, by name; memory in bytes.

    `cpu`, `mem`, `node` and `gres/NAME` are read, with or without a type (`gres/gpu:a100`); bills,
    energy, licences and discs do not belong to nodes.

    Raises
    ------
    ValueError
        If the text is no such list.

    Examples
    --------
    >>> parse_tres("cpu=8,mem=2G,gres/gpu=4")
    {'cpu': 8, 'mem': 2147483648, 'gres/gpu': 4}
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
        elif name in {"cpu", "node"} or name.startswith(GRES):
            amounts[name] = parse_scaled_count(amount, name)
    return amounts


def counted_in_total(name: str, tres: Container[str]) -> bool:
    """Return True if an amount has a type (`gres/gpu:a100`) and its total (`gres/gpu`) is there."""
    total, typed, _ = name.partition(":")
    return bool(typed) and total in tres
