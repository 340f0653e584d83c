"""Two logs become one, in both orders."""

import gzip

from changing_log import joined, main

LUBLIN = "1 5 -1 10 3 -1 -1 -1 -1 -1 1 -1 -1 -1 0 -1 -1 -1"
KTH = (
    "; a comment",
    "7 100 9 0 2 -1 -1 2 60 -1 0 1 1 -1 -1 -1 -1 -1",
    "8 120 9 30 2 -1 -1 2 60 -1 1 1 1 -1 -1 -1 -1 -1",
    "9 150 9 40 4 -1 -1 4 60 -1 1 1 1 -1 -1 -1 -1 -1",
)


def test_a_log_begins_when_the_one_before_ended():
    """The first log's last job is submitted at 4 s, and so is the second's first."""
    first, second = [[1, 0, -1, 5], [2, 4, -1, 5]], [[7, 100, -1, 6], [8, 110, -1, 6]]
    assert list(joined([first, second])) == [
        [1, 0, -1, 5],
        [2, 4, -1, 5],
        [3, 4, -1, 6],
        [4, 14, -1, 6],
    ]


def test_both_logs_are_written(tmp_path):
    """Requests of Lublin-1 are run times; jobs of KTH-SP2 are twice as wide, and run at all."""
    for name, lines in (("Lublin-1", [LUBLIN]), ("KTH-SP2-1996-2.1-cln", KTH)):
        with gzip.open(tmp_path / f"{name}.swf.gz", "wt", encoding="utf-8") as log:
            log.write("\n".join(lines) + "\n")
    assert main([str(tmp_path), str(tmp_path)]) == 0
    lublin_first = (tmp_path / "lublin-kth.swf").read_text(encoding="utf-8").splitlines()
    assert lublin_first == [
        "1 0 -1 10 3 -1 -1 -1 10 -1 1 -1 -1 -1 0 -1 -1 -1",
        "2 0 9 30 4 -1 -1 4 60 -1 1 1 1 -1 -1 -1 -1 -1",
        "3 30 9 40 8 -1 -1 8 60 -1 1 1 1 -1 -1 -1 -1 -1",
    ]
    kth_first = (tmp_path / "kth-lublin.swf").read_text(encoding="utf-8").splitlines()
    assert [line.split()[1] for line in kth_first] == ["0", "30", "30"]
