"""Tests asked about mutants: one process collects them, and a copy of it tries each mutant.

A fork takes milliseconds where starting Python, importing and collecting take seconds. A change
inside a function is made by giving the live function other code, so that it holds for every name
that the function is known by. A change that takes effect on import is put in before the import.
"""

import gc
import importlib
import inspect
import math
import os
import pickle
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
import types
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.machinery import SourceFileLoader
from pathlib import Path

import coverage
import pytest

from benchmarks.mutation.fixtures import SharedFixtures
from benchmarks.mutation.killers import Killers
from benchmarks.mutation.mutants import Mutant
from benchmarks.mutation.related import named_for

KILLED, SURVIVED, TIMED_OUT, NO_TEST = "killed", "survived", "timed out", "no test"
SURVIVED_CODE, KILLED_CODE, BROKEN_CODE, NOT_LIVE_CODE = 0, 1, 70, 71

# By path and qualified name.
Functions = dict[str, dict[str, list[types.FunctionType]]]

# Processor time that a test may take beside three times what the longest of its file takes without
# a mutant, in seconds. Most of what is needed but once is loaded before mutants are tried.
GRACE = 2
# Seconds on the clock beyond which a mutant hangs without using a processor.
HANGS = 300
# What a mutant may allocate beyond what its parent holds: an endless loop may fill a list.
MEMORY = 6 << 30


@dataclass
class Known:
    """A run without a mutant: the seconds of each test, and the tests that run each line.

    `modules` were imported meanwhile.
    """

    seconds: dict[str, float] = field(default_factory=dict)
    by_line: dict[str, dict[int, list[str]]] = field(default_factory=dict)
    modules: list[str] = field(default_factory=list)

    def tests_for(self, mutant: Mutant) -> list[str]:
        """Return the tests that may notice a mutant."""
        lines = self.by_line.get(mutant.file, {})
        if mutant.on_call:
            first, last = mutant.lines
            found = {test for line in range(first, last + 1) for test in lines.get(line, ())}
        else:
            # A default or a constant shows in tests that run none of the file's functions.
            near = {file_of(test) for tests in lines.values() for test in tests}
            near |= named_for(mutant.file)
            found = {test for test in self.seconds if not near or file_of(test) in near}
        return in_order(found, self.seconds)


def file_of(test: str) -> str:
    """Return the file of a test."""
    return test.split("::", maxsplit=1)[0]


def in_order(tests: Iterable[str], seconds: dict[str, float]) -> list[str]:
    """Sort tests: files together, as they share fixtures; short files first, and short tests."""
    by_file: dict[str, float] = defaultdict(float)
    chosen = [test for test in tests if test in seconds]
    for test in chosen:
        by_file[file_of(test)] += seconds[test]
    return sorted(chosen, key=lambda t: (by_file[file_of(t)], file_of(t), seconds[t], t))


class Loop:
    """Pytest's part: hands the collected tests to `work` rather than running them all."""

    def __init__(self, work: Callable[[pytest.Session], None]) -> None:
        self.work = work

    def pytest_configure(self) -> None:
        """Settle what pytest's plugins would choose by chance."""
        settle_hypothesis()

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self) -> tuple[str, str, str]:
        """Print nothing of a test: there are many for each mutant."""
        return "", "", ""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Do the work in place of the loop over all tests."""
        self.work(session)
        return True


def collect(tests: list[str], work: Callable[[pytest.Session], None]) -> int:
    """Collect tests as pytest does and call `work` with the session."""
    options = [
        "-qq",
        "--no-header",
        "--no-summary",
        "-p",
        "no:cacheprovider",
        "-o",
        "console_output_style=classic",
    ]
    return int(pytest.main([*options, *tests], plugins=[Loop(work)]))


def settle_hypothesis() -> None:
    """Have properties try the same examples each time, keep none, and simplify no failure."""
    from hypothesis import HealthCheck, Phase, settings

    settings.register_profile(
        "mutation",
        derandomize=True,
        database=None,
        phases=(Phase.explicit, Phase.generate),
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    settings.load_profile("mutation")


def run(
    session: pytest.Session,
    tests: Iterable[str],
    seconds: dict[str, float],
    failed: Callable[[str], None],
) -> int:
    """Run tests until one fails, which is told; return the exit code."""
    items = {item.nodeid: item for item in session.items}
    # Whichever test of a file comes first makes the fixtures that they share.
    longest: dict[str, float] = defaultdict(float)
    for test, taken in seconds.items():
        longest[file_of(test)] = max(longest[file_of(test)], taken)
    chosen = [items[test] for test in tests if test in items]
    for item, following in zip(chosen, [*chosen[1:], None], strict=True):
        limit_processor_time(3 * longest[file_of(item.nodeid)] + GRACE)
        try:
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        except BaseException:  # the mutant ended the session: somebody would notice
            failed(item.nodeid)
            return KILLED_CODE
        if session.testsfailed:
            failed(item.nodeid)
            return KILLED_CODE
    return SURVIVED_CODE


def limit_processor_time(more: float) -> None:
    """End this process when it has used so many seconds more of a processor."""
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time() + more) + 1, hard))


def limit_memory() -> None:
    """Have allocations fail that are far beyond what this process holds now."""
    held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (held + MEMORY, hard))


class Children:
    """Copies of this process at work, so many at a time, each with a folder of its own."""

    def __init__(self, jobs: int, hangs: float = HANGS, quiet: bool = True) -> None:
        self.jobs = jobs
        self.hangs = hangs
        self.quiet = quiet
        self.at_work: dict[int, tuple[object, Path, float]] = {}

    def start(self, key: object, work: Callable[[], int]) -> None:
        """Do work in a child, which has a folder for its files and ends with what work returns."""
        folder = Path(tempfile.mkdtemp(prefix="mutant-"))
        sys.stdout.flush()
        sys.stderr.flush()
        pid = os.fork()
        if pid:
            self.at_work[pid] = (key, folder, time.monotonic())
            return
        code = BROKEN_CODE
        try:
            os.setsid()
            if self.quiet:
                nowhere = os.open(os.devnull, os.O_RDWR)
                for stream in (0, 1, 2):
                    os.dup2(nowhere, stream)
            os.environ["PYTEST_DEBUG_TEMPROOT"] = str(folder)
            code = work()
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)

    def ended(self) -> Iterator[tuple[object, int]]:
        """Wait for a child to end; yield its key and exit code, or less a signal's number."""
        while self.at_work:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                self.end_those_that_hang()
                time.sleep(0.01)
                continue
            if pid not in self.at_work:
                continue
            key, folder, _ = self.at_work.pop(pid)
            shutil.rmtree(folder, ignore_errors=True)
            yield key, os.waitstatus_to_exitcode(status)
            return

    def end_those_that_hang(self) -> None:
        """Kill children at work for too long, with what they have started."""
        for pid, (_, _, began) in self.at_work.items():
            if time.monotonic() - began > self.hangs:
                os.killpg(pid, signal.SIGKILL)

    def do_all(
        self, work: Iterable[tuple[object, Callable[[], int]]]
    ) -> Iterator[tuple[object, int]]:
        """Do each piece of work in a child; yield key and exit code as they end."""
        for key, action in work:
            while len(self.at_work) >= self.jobs:
                yield from self.ended()
            self.start(key, action)
        while self.at_work:
            yield from self.ended()


def result_of(code: int) -> str:
    """Return what the exit code of a child tells of its mutant."""
    if code in (-signal.SIGXCPU, -signal.SIGKILL):
        return TIMED_OUT
    if code in (BROKEN_CODE, NOT_LIVE_CODE):
        raise RuntimeError(f"the tests could not be asked (exit code {code})")
    return SURVIVED if code == SURVIVED_CODE else KILLED


def learn(session: pytest.Session, files: list[str], root: Path, told: Path) -> int:
    """Run all tests without a mutant and write what is known of them to the file `told`."""
    known = Known()
    measured = coverage.Coverage(
        data_file=None, config_file=False, include=[str(root / file) for file in files]
    )
    failed = []
    shared = SharedFixtures(session.items, measured.switch_context)
    session.config.pluginmanager.register(shared)
    measured.start()
    items: list[pytest.Item | None] = [*session.items]
    for item, following in zip(session.items, [*items[1:], None], strict=True):
        shared.begin(item.nodeid)
        began = time.process_time() + used_by_children()
        before = session.testsfailed
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        known.seconds[item.nodeid] = time.process_time() + used_by_children() - began
        if session.testsfailed > before:
            failed.append(item.nodeid)
            del known.seconds[item.nodeid]
    measured.stop()
    data = measured.get_data()
    for file in files:
        lines = data.contexts_by_lineno(str(root / file))
        known.by_line[file] = {
            line: [test for name in names if name for test in shared.tests(name)]
            for line, names in lines.items()
        }
    known.modules = [name for name in sys.modules if name.startswith("hpcsched.")]
    told.write_bytes(pickle.dumps((known, failed)))
    return SURVIVED_CODE


def used_by_children() -> float:
    """Return the processor time of the processes that this one has started and seen end."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def load(known: Known) -> None:
    """Load the modules that the tests need, so that no child need do so."""
    for module in known.modules:
        importlib.import_module(module)


def functions_of(files: list[str], root: Path) -> Functions:
    """Return the live functions made from each file's code, by qualified name."""
    found: Functions = {str(root / file): defaultdict(list) for file in files}
    for thing in gc.get_objects():
        if isinstance(thing, types.FunctionType) and thing.__code__.co_filename in found:
            found[thing.__code__.co_filename][thing.__code__.co_qualname].append(thing)
    return found


def put_in(mutant: Mutant, root: Path, functions: Functions) -> bool:
    """Give live functions the mutant's code; return whether that could be done.

    Functions made inside the changed one, before now, get theirs too.
    """
    path = str(root / mutant.file)
    outer = of_function(compile(mutant.source, path, "exec"), mutant.first_line_of_function)
    done = False
    for code in codes(outer):
        for function in functions[path].get(code.co_qualname, ()):
            if code is outer and function.__code__.co_firstlineno != code.co_firstlineno:
                continue  # another of this name: a property and its setter
            if function.__code__.co_freevars != code.co_freevars:
                return False
            function.__code__ = code
            done = True
    return done


def of_function(module: types.CodeType, first_line: int) -> types.CodeType:
    """Return the code of the outermost function that begins at a line."""
    return next(
        code
        for code in codes(module)
        if code.co_firstlineno == first_line
        and code.co_flags & inspect.CO_NEWLOCALS
        and code.co_flags & inspect.CO_OPTIMIZED
    )


def codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """Yield code and all code within it, outer before inner."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from codes(constant)


@contextmanager
def loaded_as(mutant: Mutant, root: Path) -> Iterator[None]:
    """Have the import of the mutant's file load the mutant."""
    path = str(root / mutant.file)
    usual = SourceFileLoader.get_code

    def get_code(loader: SourceFileLoader, fullname: str) -> types.CodeType | None:
        if loader.path == path:
            return compile(mutant.source, path, "exec", dont_inherit=True)
        return usual(loader, fullname)

    SourceFileLoader.get_code = get_code
    try:
        yield
    finally:
        SourceFileLoader.get_code = usual


def tried_live(
    mutant: Mutant,
    session: pytest.Session,
    known: Known,
    killers: Killers,
    *,
    root: Path,
    functions: Functions,
) -> int:
    """Put a mutant in and run tests until one fails."""
    limit_memory()
    if not put_in(mutant, root, functions):
        return NOT_LIVE_CODE
    tests = killers.first(mutant, known.tests_for(mutant))
    return run(session, tests, known.seconds, lambda test: killers.add(mutant, test))


def tried_on_import(mutant: Mutant, known: Known, killers: Killers, root: Path) -> int:
    """Collect and run tests with the mutant in place; a mutant that breaks the import is killed."""
    limit_memory()
    tests = killers.first(mutant, known.tests_for(mutant))
    limit_processor_time(60)
    codes_seen = []

    def work(session: pytest.Session) -> None:
        code = run(session, tests, known.seconds, lambda test: killers.add(mutant, test))
        codes_seen.append(code)

    with loaded_as(mutant, root):
        files = sorted({file_of(test) for test in tests})
        code = collect(files, work)
    return codes_seen[0] if codes_seen else (KILLED_CODE if code else BROKEN_CODE)


def ask(
    mutants: list[Mutant],
    tests: list[str],
    root: Path,
    *,
    jobs: int,
    tell: Callable[[Mutant, str], None],
) -> None:
    """Tell each mutant's result as soon as it is known, from whatever process knows it.

    Two generations of children: the first imports the project and collects the tests once, the
    second tries mutants. This process imports none of the project, so that mutants which take
    effect on import can be tried in children of its own.
    """
    with tempfile.TemporaryDirectory(prefix="mutation-") as folder:
        told = Path(folder, "told")
        killers = Killers(Path(folder, "killers"))

        def live() -> int:
            return collect(
                tests,
                lambda session: ask_live(
                    session, mutants, root, killers, jobs=jobs, told=told, tell=tell
                ),
            )

        [(_, code)] = Children(1, math.inf, quiet=False).do_all([("live", live)])
        if code or not told.exists():
            raise RuntimeError(f"the tests could not be collected (exit code {code}): {tests}")
        known, failed, rest = pickle.loads(told.read_bytes())
    say(f"{len(known.seconds)} tests, {sum(known.seconds.values()):.0f} seconds of a processor")
    for test in failed:
        say(f"left out, as it fails without a mutant here: {test}")
    work = ((i, lambda i=i: tried_on_import(mutants[i], known, killers, root)) for i in rest)
    for i, code in Children(jobs).do_all(work):
        tell(mutants[i], result_of(code))


def ask_live(
    session: pytest.Session,
    mutants: list[Mutant],
    root: Path,
    killers: Killers,
    *,
    jobs: int,
    told: Path,
    tell: Callable[[Mutant, str], None],
) -> None:
    """Learn about the tests in a child, then try in others the mutants that can be put in live."""
    if session.testsfailed:
        return
    files = sorted({mutant.file for mutant in mutants})
    for _, code in Children(1, math.inf).do_all(
        [("learn", lambda: learn(session, files, root, told))]
    ):
        if code:
            raise RuntimeError(f"the tests could not be run without a mutant (exit code {code})")
    known, failed = pickle.loads(told.read_bytes())
    load(known)
    functions = functions_of(files, root)
    gc.freeze()  # children share what they do not change
    at_once: list[int] = []
    rest: list[object] = []
    for i, mutant in enumerate(mutants):
        if not known.tests_for(mutant):
            tell(mutant, NO_TEST)
        else:
            (at_once if mutant.on_call else rest).append(i)
    work = (
        (
            i,
            lambda i=i: tried_live(
                mutants[i], session, known, killers, root=root, functions=functions
            ),
        )
        for i in at_once
    )
    done = missed = 0
    for i, code in Children(jobs).do_all(work):
        if code == NOT_LIVE_CODE:
            rest.append(i)
            continue
        tell(mutants[i], result_of(code))
        done, missed = done + 1, missed + (code == SURVIVED_CODE)
        if done % 100 == 0:
            say(f"{done} of {len(at_once)}, {missed} survived")
    told.write_bytes(pickle.dumps((known, failed, rest)))


def say(text: str) -> None:
    """Tell how it goes, beside the table."""
    print(text, file=sys.stderr, flush=True)
