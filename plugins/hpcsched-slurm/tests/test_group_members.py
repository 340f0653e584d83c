"""Membership of users in groups, on this machine."""

import grp
import pwd

from hpcsched_slurm.partition_limits import is_member


def test_members() -> None:
    """A user is in the own primary group; of what this machine lacks nothing is known."""
    user = pwd.getpwuid(0)
    own = grp.getgrgid(user.pw_gid).gr_name
    assert is_member(user.pw_name, ["games", own]) is True
    assert is_member("games", [own]) is False
    assert is_member("games", [own, "no-such-group"]) is None
    assert is_member("no-such-user", [own]) is None
