"""A small tuning study: weights of the queue order `multifactor` on 300 jobs."""

from pathlib import Path

from hpcsched.studies.study_files import TunedScenario

ROOT = Path(__file__).parents[2]
SCENARIO = ROOT / "scenarios" / "small-easy.yaml"
OVERRIDES = ("trace.jobs=300", "dispatcher={name: easy, order: multifactor}")
SPACE = """\
name: sought
parameters:
  dispatcher.order.weights.age: {low: 0, high: 5000}
  dispatcher.order.weights.size: {low: 1.0, high: 5000.0, log: true}
  dispatcher.order.favor_small: {values: [false, true]}
trials: 8
train: 0.5
constraints:
  - {by: size, percent: 10}
"""


def space_file(folder: Path, text: str = SPACE) -> Path:
    """Write a tuning file and return its path."""
    path = folder / "space.yaml"
    path.write_text(text)
    return path


def small_study(folder: Path, text: str = SPACE) -> TunedScenario:
    """Return the small scenario with the space of a text."""
    return TunedScenario(SCENARIO, space_file(folder, text), OVERRIDES)
