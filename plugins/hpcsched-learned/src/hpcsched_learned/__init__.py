"""A predictor that learns from completed jobs, and a queue order by a learned policy."""

from collections.abc import Iterable

from hpcsched import Context, Plugin, Predictor, QueueOrder, hookimpl
from hpcsched_learned.params import LearnedParams, PolicyParams


@hookimpl
def hpcsched_predictors() -> Iterable[Plugin]:
    """Return `learned`."""
    yield Plugin(
        "learned", "a quantile of the run times of similar jobs, by a forest", _make, LearnedParams
    )


def _make(params: LearnedParams, context: Context) -> Predictor:
    """Return the predictor; its library is imported only now."""
    from hpcsched_learned.predictor import Learned  # noqa: PLC0415 (scikit-learn takes its time)

    return Learned(params, context.seed)


@hookimpl
def hpcsched_queue_orders() -> Iterable[Plugin]:
    """Return `policy`."""
    yield Plugin("policy", "scores of a learned policy", _make_order, PolicyParams)


def _make_order(params: PolicyParams, _context: Context) -> QueueOrder:
    """Return the order of a saved policy, or of arrival without one."""
    from hpcsched_learned.policy_order import PolicyOrder, ScoringNetwork  # noqa: PLC0415

    score = None if params.path is None else ScoringNetwork.load(params.path)
    return PolicyOrder(score, params.window)
