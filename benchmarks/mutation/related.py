"""Which tests are asked about which source: of these, each mutant gets those that run its lines."""

PACKAGES = (
    "hpcsched/dispatching/rules",
    "hpcsched/simulation",
    "hpcsched/audit",
    "hpcsched/metrics",
)

# From a folder or file to tests; the longest that fits holds.
RELATED = {
    "hpcsched/dispatching/rules": (
        "tests/dispatching/rules",
        "tests/dispatching/test_allocators.py",
        "tests/properties",
        "tests/golden",
    ),
    "hpcsched/dispatching/rules/orders.py": (
        "tests/golden/test_queue_orders.py",
        "tests/golden/test_rules.py",
        "tests/dispatching/cp/test_expected_waits.py",
    ),
    "hpcsched/dispatching/rules/multifactor": (
        "tests/dispatching/rules/test_multifactor.py",
        "tests/dispatching/rules/test_multifactor_accounts.py",
        "tests/dispatching/rules/test_multifactor_params.py",
        "tests/dispatching/rules/test_multifactor_trees.py",
        "tests/golden/test_queue_orders.py",
    ),
    "hpcsched/dispatching/rules/rule_params.py": (
        "tests/dispatching/rules",
        "tests/golden/test_depth.py",
        "tests/golden/test_queue_orders.py",
        "tests/golden/test_rules.py",
    ),
    "hpcsched/simulation": ("tests/simulation", "tests/golden"),
    **dict.fromkeys(
        [
            f"hpcsched/simulation/{name}.py"
            for name in (
                *("replay_events", "decision_requests"),
                *("event_loop", "order_keys", "replay_choices", "records"),
            )
        ],
        (
            "tests/simulation",
            "tests/properties/test_against_reference.py",
            "tests/runs/test_both_loops.py",
            "tests/simulation/test_column_checks.py",
            "tests/runs/test_replaying.py",
            "tests/traces/test_core_replay.py",
        ),
    ),
    "hpcsched/audit": ("tests/audit", "tests/runs"),
    "hpcsched/metrics": (
        "tests/metrics",
        "tests/runs/test_directory.py",
        "tests/studies/test_predictor_evaluation.py",
    ),
}

# Long searches for what is seldom, whole runs of which nothing is changed, and what starts solvers;
# most mutants are killed without them.
DEAR = (
    "tests/properties",
    "tests/dispatching/rules/test_promises.py",
    "tests/golden/test_planned_orders.py",
    "tests/simulation/test_outages_of_all.py",
    "tests/runs/test_run_lifecycle.py",
    "tests/runs/test_maintenance_and_power.py",
    "tests/runs/test_replay.py",
    "tests/runs/test_transformed_run.py",
)


def tests_of(file: str, *, quick: bool) -> tuple[str, ...]:
    """Return pytest's arguments for the tests related to a file, without the dear ones if quick."""
    tests = related_to(file)
    if not quick:
        return tests
    cheap = [test for test in tests if not test.startswith(DEAR)]
    return *cheap, *(f"--ignore={test}" for test in DEAR)


def named_for(file: str) -> set[str]:
    """Return the files with tests that are named for a source file, not just their folder."""
    return {test for test in related_to(file) if test.endswith(".py")}


def related_to(file: str) -> tuple[str, ...]:
    """Return the files and folders with tests for a source file."""
    return RELATED[max((start for start in RELATED if file.startswith(start)), key=len)]
