"""Fair-share factors of a tree of accounts: Slurm's Fair Tree, and its classic formula.

Sources: slurm.schedmd.com/fair_tree.html and .../classic_fair_share.html (SchedMD), which define
both algorithms; the code is our own.
"""

from collections.abc import Sequence
from itertools import groupby
from math import inf

from hpcsched.dispatching.rules.multifactor_accounts import Association, Branch, Leaf


def level_fair_share(child: Branch | Leaf, siblings_shares: float, parent_usage: float) -> float:
    """Return the level fair share of an account or a user among its siblings.

    Parameters
    ----------
    siblings_shares
        Sum of the shares of all children of the parent.

    Returns
    -------
    float
        Share of the siblings' shares over the share of the parent's usage. 0 without shares, and
        infinite with shares and without usage. Above 1 it has used less than its share. Infinite
        for a user that counts with the shares of the account.
    """
    if child.shares is None:
        return inf
    if not child.shares:
        return 0.0
    if not child.usage:
        return inf
    # The child's own ratio is rounded by itself, so that equal ratios of siblings are equal floats.
    return (child.shares / child.usage) * (parent_usage / siblings_shares)


def fair_tree(root: Branch) -> dict[Association, float]:
    """Return the fair-share factor of each user by Fair Tree.

    Siblings are sorted by level fair share, the highest first, and the tree is traversed depth
    first. A user's factor is its rank over the number of users: 1 for the first user found, 1 / n
    for the last of n. Ties are resolved as follows:

    - users that are siblings and tie have the same rank, the best of theirs;
    - accounts that are siblings and tie are merged: their children are sorted together;
    - a user that ties with a sibling account has the same rank as the best user of the account.

    Returns
    -------
    dict[Association, float]
        Factors, in order of rank.
    """
    found: list[tuple[Association, int]] = []
    _rank([root], found, None)
    return {association: (len(found) - better) / len(found) for association, better in found}


def _rank(
    branches: Sequence[Branch], found: list[tuple[Association, int]], tied: int | None
) -> None:
    """Append the users below tied accounts, each with the number of users that rank before it.

    `tied` is that number for the best users here if they tie with a user further up.
    """
    levels: list[tuple[float, Branch | Leaf]] = []
    for branch in branches:
        shares = branch.level_shares
        levels.extend(
            (level_fair_share(child, shares, branch.usage), child) for child in branch.children
        )
    levels.sort(key=lambda level: -level[0])
    for _, group in groupby(levels, key=lambda level: level[0]):
        children = [child for _, child in group]
        leaves = [child for child in children if isinstance(child, Leaf)]
        accounts = [child for child in children if isinstance(child, Branch)]
        better = len(found) if tied is None else tied
        found.extend((leaf.association, better) for leaf in leaves)
        if accounts:
            _rank(accounts, found, better if leaves or tied is not None else None)
        # Only the best of these children tie with what is further up.
        tied = None


def classic(root: Branch) -> dict[Association, float]:
    """Return the fair-share factor of each user by Slurm's classic formula.

    The factor is 2^(-U / S). S is the product of the shares among siblings on the path from the
    root. U is the effective usage: for children of the root their share of all usage; further
    down u + (U of the parent - u) × share among siblings, with u the share of all usage. A user
    that counts with the shares of its account has the factor of the account.

    Returns
    -------
    dict[Association, float]
        Factors; 0 for users without a share.
    """
    factors: dict[Association, float] = {}

    def factor(used: float, share: float) -> float:
        return 2.0 ** -(used / share) if share else 0.0

    def visit(branch: Branch, share: float, effective: float | None) -> None:
        shares = branch.level_shares
        for child in branch.children:
            if child.shares is None:
                # Leaves alone have none. The effective usage of the root is all usage.
                of_all = float(root.usage > 0) if effective is None else effective
                factors[child.association] = factor(of_all, share)
                continue
            among = child.shares / shares if shares else 0.0
            used = child.usage / root.usage if root.usage else 0.0
            if effective is not None:
                used += (effective - used) * among
            if isinstance(child, Branch):
                visit(child, share * among, used)
            else:
                factors[child.association] = factor(used, share * among)

    visit(root, 1.0, None)
    return factors
