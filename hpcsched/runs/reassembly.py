"""The parts of the scenario of a finished run, with the trace that it read."""

from pathlib import Path

from hpcsched.runs.assembly import Assembly, assemble
from hpcsched.runs.directory import RunDirectory
from hpcsched.runs.kept_answers import kept_answers
from hpcsched.scenario import load_scenario
from hpcsched.workload.trace_source import answer_again


def assemble_again(run: RunDirectory, folder: Path = Path()) -> Assembly:
    """Return the parts of a run's scenario; its trace reads the answers that the run kept.

    Raises
    ------
    InputError
        The scenario is not valid here, or the kept answers are damaged.
    """
    assembly = assemble(load_scenario(run.scenario_path), folder=folder)
    answers = kept_answers(run.path, run.manifest)
    if answers:
        answer_again(assembly.source, answers)
    return assembly
