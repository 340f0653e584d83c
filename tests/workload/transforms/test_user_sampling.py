"""The transform `sample-users`."""

from itertools import combinations
from types import SimpleNamespace

from hpcsched.workload.transform import TransformAccount
from hpcsched.workload.transforms.job_transforms import SampleUsers, SampleUsersParams
from tests.workload.transforms.chains import Given, chain, read, submitted

USERS = range(1, 401)
JOBS = submitted(range(800), [*USERS, *USERS])


def kept(share: float, *, seed: int = 7, own_seed: int = 0) -> set[int | None]:
    """Return the users that are kept, having checked that all of their jobs are."""
    source = chain(Given(JOBS), ("sample-users", {"share": share, "seed": own_seed}), seed=seed)
    jobs = read(source)
    users = {one.job.user for one in jobs}
    assert len(jobs) == 2 * len(users)
    assert source.account.skipped.get("not_sampled", 0) == 800 - len(jobs)
    return users


def test_a_share_of_users() -> None:
    """Of 400 users nearly half, within 3.5 standard deviations; all of them with share 1."""
    assert abs(len(kept(0.5)) - 200) < 35
    assert len(kept(1)) == 400


def test_a_larger_share_has_the_same_users() -> None:
    """And more."""
    assert kept(0.2) < kept(0.5) < kept(0.8)


def test_seeds() -> None:
    """The same seeds keep the same users; another of the scenario's or its own keeps others."""
    assert kept(0.5) == kept(0.5)
    drawn = [kept(0.5), kept(0.5, seed=8), kept(0.5, own_seed=1)]
    assert all(one != other for one, other in combinations(drawn, 2))


def test_it_does_not_depend_on_who_came_before() -> None:
    """The second half of the trace has the same users as the first."""
    sample = ("sample-users", {"share": 0.3})
    assert read(chain(Given(JOBS[400:]), sample)) == (
        [one for one in read(chain(Given(JOBS), sample)) if one.job.submit_time >= 400]
    )


def test_users_by_hand() -> None:
    """A user's draw is a SHA-256, read as a binary fraction.

    `printf 7/0/1 | sha256sum` begins with 612e, which is 0.38. Users 2 to 6 have a112, c254, e266,
    4809 and 7e26: 0.63, 0.76, 0.88, 0.28 and 0.49. A job without a user is kept.
    """
    jobs = submitted(range(7), [1, 2, 3, 4, 5, 6, None])
    source = chain(Given(jobs), ("sample-users", {"share": 0.5}), seed=7)
    assert [one.job.user for one in read(source)] == [1, 5, 6, None]


def test_the_seed_of_the_transform_counts_beside_that_of_the_scenario() -> None:
    """User 1 has 0.38 with seeds 7 and 0; `printf 7/1/1 | sha256sum` begins with 6e99: 0.43."""
    for seed, expected in ((0, [1]), (1, [])):
        account = TransformAccount()
        sample = SampleUsers(SampleUsersParams(share=0.4, seed=seed), SimpleNamespace(seed=7))
        jobs = list(sample.apply(iter(submitted([0], [1])), account))
        assert [one.job.user for one in jobs] == expected
        assert account.counts.skipped.get("not_sampled", 0) == 1 - len(expected)
