"""Categories of jobs: users by area, classes of sizes and run times."""

from hpcsched.report.figures.gantt import (
    JobAbout,
    category_colours,
    category_of,
    default_attribute,
)


def _jobs(*areas: int) -> list[JobAbout]:
    """Return a job of each user, with an area."""
    return [JobAbout(user, user + 1, "short", "killed", area) for user, area in enumerate(areas)]


def test_the_largest_users() -> None:
    """Of nine users the seven with the largest area have a colour, in its order."""
    jobs = _jobs(1, 9, 8, 7, 6, 5, 4, 3, 2)
    colours = category_colours("user", jobs, ["short"])
    assert list(colours) == [*(f"user {user}" for user in range(1, 8)), "others"]
    assert len(set(colours.values())) == 8
    name = category_of("user", jobs)
    assert [name(jobs[user]) for user in (0, 1, 8)] == ["others", "user 1", "others"]
    # The others would be one user: it has a colour of its own.
    assert "others" not in category_colours("user", jobs[:8], ["short"])


def test_the_default() -> None:
    """Sizes tell more than a single user, or none."""
    assert default_attribute(_jobs(1, 1)) == "user"
    assert default_attribute(_jobs(1)) == "size"
    assert default_attribute([JobAbout(None, 1, "short", "killed", 1)] * 2) == "size"


def test_classes() -> None:
    """They are in ascending order, and only those that occur."""
    jobs = _jobs(*[1] * 70)
    assert list(category_colours("size", jobs, [])) == [
        "1 node", "2 to 4 nodes", "5 to 16 nodes", "17 to 64 nodes", "more than 64 nodes",
    ]  # fmt: skip
    assert list(category_colours("run-time", jobs, ["short", "long"])) == ["short"]
    assert list(category_colours("state", jobs, [])) == ["killed"]
