"""Work that asks questions in between: it runs in a thread, and waits there for each answer."""

from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread
from typing import Any, Generic, NamedTuple, TypeVar

ResultT = TypeVar("ResultT")


class Question(NamedTuple):
    """A question, to which the work waits for an answer."""

    content: Any


class Result(NamedTuple, Generic[ResultT]):
    """Return value of the work."""

    value: ResultT


class _Failure(NamedTuple):
    error: BaseException


class _Abandoned(BaseException):
    """Raised in the work when nobody waits for its result.

    It is no `Exception`, which a simulation would report as the failure of a plugin.
    """


_ABANDON = object()


class Conversation(Generic[ResultT]):
    """A conversation with work in a thread of its own; only one of the two runs at a time.

    Parameters
    ----------
    work
        Called with a function that asks a question and returns the answer.
    """

    def __init__(self, work: Callable[[Callable[[Any], Any]], ResultT]) -> None:
        self._said: SimpleQueue[Any] = SimpleQueue()
        self._answers: SimpleQueue[Any] = SimpleQueue()
        # A daemon: a program may end in the middle of an episode.
        self._thread = Thread(target=self._run, args=(work,), daemon=True)
        self._thread.start()

    def hear(self) -> "Question | Result[ResultT]":
        """Wait for the next question, or the result.

        Raises
        ------
        BaseException
            What the work has raised.
        """
        said = self._said.get()
        if isinstance(said, _Failure):
            raise said.error
        heard: Question | Result[ResultT] = said
        return heard

    def answer(self, content: Any) -> None:
        """Answer the question."""
        self._answers.put(content)

    def abandon(self) -> None:
        """End the work, if it waits for an answer, and wait for its end."""
        self._answers.put(_ABANDON)
        self._thread.join()

    def _ask(self, content: Any) -> Any:
        self._said.put(Question(content))
        answer = self._answers.get()
        if answer is _ABANDON:
            raise _Abandoned
        return answer

    def _run(self, work: Callable[[Callable[[Any], Any]], ResultT]) -> None:
        try:
            self._said.put(Result(work(self._ask)))
        except _Abandoned:
            pass
        except BaseException as error:  # it is raised where the result is waited for
            self._said.put(_Failure(error))
