"""A predictor of run times that learns from completed jobs, registered by a hook."""

from collections.abc import Iterable

from hpcsched import Context, Plugin, Predictor, hookimpl
from hpcsched_learned.params import LearnedParams


@hookimpl
def hpcsched_predictors() -> Iterable[Plugin]:
    """Return `learned`."""
    yield Plugin(
        "learned", "a quantile of what similar jobs ran, by a forest", _make, LearnedParams
    )


def _make(params: LearnedParams, context: Context) -> Predictor:
    """Build the predictor; what it takes is imported only then."""
    from hpcsched_learned.predictor import Learned  # noqa: PLC0415 (scikit-learn takes its time)

    return Learned(params, context.seed)
