"""Paths that users give: where they lead, and what is said of those that no file can have."""

import os
from pathlib import Path

import pytest

from hpcsched.paths import given_path, too_long, unreadable

HERE = Path("/data/logs")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("kth.swf", "/data/logs/kth.swf"),
        ("../kth.swf", "/data/kth.swf"),
        ("./a//b/../c", "/data/logs/a/c"),
        ("/elsewhere/kth.swf", "/elsewhere/kth.swf"),
        ("~/kth.swf", "/home/ada/kth.swf"),
        # Only at the beginning does it stand for a home.
        ("a/~/b", "/data/logs/a/~/b"),
    ],
)
def test_paths_begin_at_a_folder(text: str, expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Relative ones at the given folder, `~` at the home; `..` goes up by the text."""
    monkeypatch.setenv("HOME", "/home/ada")
    assert given_path(text, HERE) == Path(expected)


def test_links_are_not_followed(tmp_path: Path) -> None:
    """Messages show the path as the user knows it."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    assert given_path("link/x.swf", tmp_path) == tmp_path / "link" / "x.swf"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("~nosuchuser/x", "there is no user 'nosuchuser', with which the path '~nosuchuser/x'"),
        ("a\0b", r"a path without the character U\+0000, found 'a\\x00b'"),
        ("x" * 300, "too long a path: 300 bytes; it begins with 'xxx"),
        # Each of 200 letters takes two bytes.
        ("ü" * 200, "too long a path: 400 bytes"),
    ],
)
def test_impossible_paths(text: str, message: str, tmp_path: Path) -> None:
    """No file can have such a path; the message is about what the user gave."""
    with pytest.raises(ValueError, match=message):
        given_path(text, tmp_path)


def test_possible_paths(tmp_path: Path) -> None:
    """Nothing need be there; a link that leads nowhere is a path as well."""
    (tmp_path / "link").symlink_to("nowhere")
    for name in ("none/x", "link", "x" * 255):
        assert given_path(name, tmp_path) == tmp_path / name


def test_long_texts_are_cut() -> None:
    """60 characters are shown, with the quote before them."""
    text = too_long("y" * 999)
    assert text == f"too long a path: 999 bytes; it begins with '{'y' * 59}…"
    assert too_long("short").endswith("it begins with 'short'")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    """A file that is there has no message; else it says what is in the way."""
    path = tmp_path / "x.swf"
    assert unreadable(str(path)) == f"there is no file {path}"
    path.write_text("")
    assert unreadable(str(path)) is None
    # A file is no folder.
    assert unreadable(str(path / "y")) == f"there is no file {path / 'y'}"
    loop = tmp_path / "loop"
    loop.symlink_to("loop")
    message = os.strerror(40).lower()
    assert unreadable(str(loop)) == f"the file cannot be read: {message}: {loop}"
