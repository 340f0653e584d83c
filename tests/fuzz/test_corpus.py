"""The files of the corpus are read without a traceback, as the fuzzer reads them."""

import pytest

from tests.fuzz.readers import CORPUS, READERS, read


@pytest.mark.parametrize("source", READERS)
def test_corpus(source: str) -> None:
    """There is something to begin with, and all of it gives jobs or an InputError."""
    files = sorted((CORPUS / source).iterdir())
    assert files
    for file in files:
        read(source, file.read_bytes())
