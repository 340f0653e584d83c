"""Networks that score jobs, by hand, and their files."""

from pathlib import Path

import numpy as np
import pytest

from hpcsched import InputError
from hpcsched_learned.policy_order import FEATURES, ScoringNetwork, parameter_count

COUNT = len(FEATURES)


def test_a_weighted_sum_by_hand() -> None:
    """Twice the first feature, less the third, and 0.5."""
    weights = np.zeros((COUNT, 1))
    weights[0], weights[2] = 2, -1
    rows = np.zeros((2, COUNT), dtype=np.float32)
    rows[0, :3] = 0.5, 0.25, 1
    assert ScoringNetwork([(weights, [0.5])])(rows).tolist() == [0.5, 0.5]


def test_a_hidden_layer_by_hand() -> None:
    """The tangent of the first feature, times three."""
    weights = np.zeros((COUNT, 1))
    weights[0] = 1
    network = ScoringNetwork([(weights, [0.0]), ([[3.0]], [1.0])])
    rows = np.full((1, COUNT), 0.5, dtype=np.float32)
    assert network(rows).tolist() == [pytest.approx(3 * np.tanh(0.5) + 1)]


def test_a_flat_list_of_numbers() -> None:
    """Layer by layer: weights row by row, then biases."""
    network = ScoringNetwork.of_parameters(np.arange(parameter_count([2])), [2])
    (first, first_bias), (second, second_bias) = network.layers
    assert first[0].tolist() == [0, 1]
    assert first_bias.tolist() == [16, 17]
    assert second.tolist() == [[18], [19]]
    assert second_bias.tolist() == [20]
    with pytest.raises(ValueError, match="expected 9 numbers"):
        ScoringNetwork.of_parameters([1, 2])


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    """With equal scores, to the bit."""
    draw = np.random.default_rng(1)
    network = ScoringNetwork.of_parameters(draw.normal(size=parameter_count([5, 3])), [5, 3])
    network.save(tmp_path / "policy.npz")
    rows = draw.random((7, COUNT)).astype(np.float32)
    assert (ScoringNetwork.load(tmp_path / "policy.npz")(rows) == network(rows)).all()


@pytest.mark.parametrize(
    "layers",
    [
        [],
        [(np.zeros((COUNT, 2)), np.zeros(2))],
        [(np.zeros((COUNT + 1, 1)), np.zeros(1))],
        [(np.full((COUNT, 1), np.inf), np.zeros(1))],
    ],
)
def test_shapes_that_do_not_fit(layers: list) -> None:
    """They are refused."""
    with pytest.raises(ValueError, match=r"expected|finite"):
        ScoringNetwork(layers)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda path: path.unlink(), "cannot be read"),
        (lambda path: path.write_text("no"), "it is no policy"),
        (lambda path: np.savez(path, format=np.array(9)), "of format 1"),
        (
            lambda path: np.savez(path, format=np.array(1), features=np.array(["wait"])),
            "found one for wait",
        ),
        (
            lambda path: np.savez(path, format=np.array(1), features=np.array(FEATURES)),
            "it is damaged",
        ),
    ],
)
def test_files_that_are_refused(tmp_path: Path, change: object, message: str) -> None:
    """The file is named, and what was expected."""
    path = tmp_path / "policy.npz"
    ScoringNetwork.of_parameters(np.zeros(parameter_count())).save(path)
    change(path)
    with pytest.raises(InputError, match=message) as caught:
        ScoringNetwork.load(path)
    assert str(path) in str(caught.value)
