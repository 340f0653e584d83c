"""How often a solver was asked and had no plan, in numbers and in words."""

import pytest

from hpcsched.runs.solver_rounds import in_words, solver_rounds, warning

STATUSES = {"feasible": 400, "optimal": 83, "failed": 900, "unknown": 8}


@pytest.mark.parametrize(
    ("statuses", "words"),
    [
        ({}, ""),
        ({"optimal": 1000, "feasible": 391}, "all 1,391 rounds with a solver had a plan"),
        # 400 + 83 + 900 + 8 = 1,391 were asked, of which 900 + 8 = 908 had no plan.
        (STATUSES, "908 of 1,391 rounds with a solver had no plan: failed 900, unknown 8"),
        (
            {"unknown": 2, "overrun": 2},
            "4 of 4 rounds with a solver had no plan: overrun 2, unknown 2",
        ),
    ],
)
def test_in_words(statuses: dict[str, int], words: str) -> None:
    """The most frequent status comes first, of equally frequent ones the first by name."""
    assert in_words(solver_rounds(statuses)) == words


def test_of_what_there_is_one_a_call() -> None:
    """Saved problems are no rounds."""
    counted = solver_rounds({"optimal": 3, "failed": 1})
    assert in_words(counted, "problems") == "1 of 4 problems with a solver had no plan: failed 1"


def test_a_tenth_may_have_no_plan() -> None:
    """7 of 70 are a tenth, and no more; 8 of 71 are."""
    assert warning(solver_rounds({"optimal": 63, "failed": 7})) is None
    assert warning(solver_rounds({"optimal": 63, "failed": 8})) == (
        "8 of 71 rounds with a solver had no plan: failed 8; above 10 % figures tell of the"
        " fallback rather than of the solver: check that the solver works"
    )
    assert warning(solver_rounds({})) is None


@pytest.mark.parametrize(
    ("status", "advice"),
    [
        ("unknown", "give it a larger `budget` or `time_limits`, or fewer jobs (`queue_length`)"),
        ("overrun", "give it a larger `budget` or `time_limits`, or fewer jobs (`queue_length`)"),
        ("overflow", "give it fewer jobs (`queue_length`)"),
        ("failed", "check that the solver works"),
        ("infeasible", "check that the solver works"),
        ("invalid", "check that the solver works"),
        ("of a plugin's own", "check that the solver works"),
    ],
)
def test_advice(status: str, advice: str) -> None:
    """What helps depends on what came of the solver; the same is said once."""
    said = warning(solver_rounds({status: 2, "failed": 1}))
    assert said is not None
    _, _, helps = said.partition("rather than of the solver: ")
    assert helps == ", and ".join(dict.fromkeys([advice, "check that the solver works"]))
