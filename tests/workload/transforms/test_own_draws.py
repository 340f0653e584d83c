"""Random numbers of a user or a job alone."""

from hpcsched.workload.transform import own_seed, own_share


def test_a_seed_is_the_begin_of_a_hash() -> None:
    """`printf 7/0/1 | sha256sum` begins with 612e."""
    assert f"{own_seed(7, 0, 1):016x}".startswith("612e")


def test_a_share_is_the_seed_as_a_binary_fraction() -> None:
    """0x612e / 0x10000 is 0.37961…, below the next one."""
    assert 0x612E / 0x10000 <= own_share(7, 0, 1) < 0x612F / 0x10000


def test_labels_are_told_apart() -> None:
    """1 and 23 are not 12 and 3; a number and its text are one label."""
    assert own_seed(1, 23) != own_seed(12, 3)
    assert own_seed(1, "23") == own_seed("1", 23)


def test_shares_are_uniform() -> None:
    """Of 1000 shares 500 are below 1/2, within 3.5 standard deviations of 15.8."""
    assert abs(sum(own_share("user", k) < 0.5 for k in range(1000)) - 500) < 56
