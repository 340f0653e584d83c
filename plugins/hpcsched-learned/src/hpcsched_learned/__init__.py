"""A predictor of run times that learns from completed jobs, registered by a hook."""

from collections.abc import Iterable

from hpcsched import Context, Plugin, Predictor, hookimpl
from hpcsched_learned.params import LearnedParams


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
