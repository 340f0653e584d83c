"""What PCP'20 (preprint), the thesis of 2020 and CP 2021 print of their replays.

Their logs are those of Eurora, of ForHLR II and of Gaia, their solver and machine are others than
ours.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from comparisons.cp2021.paper import PRINTED as CP2021
from comparisons.cp2021.paper import Printed


class Row(NamedTuple):
    """A row of a table: its labels of dispatcher and predictor, and what is printed in it."""

    dispatcher: str
    predictor: str
    printed: Printed


class Printing(NamedTuple):
    """A table of a paper: its title, the label of its log, and its rows in the paper's order."""

    title: str
    system: str
    rows: Sequence[Row]


class Bars(NamedTuple):
    """A figure of slowdowns and wait times.

    Attributes
    ----------
    name
        The name of its files.
    title
        What stands over it.
    system
        The label of its log.
    bars
        Its bars, from left to right: labels of dispatcher and predictor.
    """

    name: str
    title: str
    system: str
    bars: Sequence[tuple[str, str]]


class Paper(NamedTuple):
    """A paper, and what is shown of it.

    Attributes
    ----------
    page
        The page that shows what came out.
    names
        What the paper calls its dispatchers, by label.
    tables, figures
        Its tables and figures.
    beside_lists
        Whether decisions are shown beside those of list scheduling. The earlier versions of the
        thesis plan for another objective, for which there are no list plans.
    searches
        Whether it is shown how many searches proved their plan, and how many a limit ended.
    """

    page: str
    names: Mapping[str, str]
    tables: Sequence[Printing]
    figures: Sequence[Bars]
    beside_lists: bool = True
    searches: bool = False


def _rows(*rows: tuple[str, str, int | None, int | None]) -> Sequence[Row]:
    return [Row(dispatcher, letter, Printed(*times)) for dispatcher, letter, *times in rows]


def _of_cp2021(system: str) -> Sequence[Row]:
    return [
        Row(label, letter, cell) for (of, label, letter), cell in CP2021.items() if of == system
    ]


def _bars(dispatchers: Sequence[str], letters: Sequence[str]) -> Sequence[tuple[str, str]]:
    return [(dispatcher, letter) for letter in letters for dispatcher in dispatchers]


EURORA = "`eurora-like`, which stands in for the log of Eurora"
EURORA_LOG = "a busy stretch of the log of Eurora"
KIT = "`kit-like`, which stands in for the log of ForHLR II"

THESIS_NAMES = {
    "hcp": "HCP", "hcp1": "HCP₁", "hcp2": "HCP₂", "hcp19": "HCP₃",
    "pcp1": "PCP₁", "pcp2": "PCP₂", "pcp19": "PCP₃", "pcp4": "PCP₄", "pcp20": "PCP₅",
}  # fmt: skip
THESIS_PCP = [("pcp1", "W"), ("pcp1", "R"), ("pcp2", "D"), *_bars(["pcp19"], "WDR")]
THESIS_HCP = [
    ("hcp", "W"), *_bars(["hcp1"], "WDR"), ("hcp2", "D"), *_bars(["hcp19"], "WDR"),
]  # fmt: skip

_PAPERS: Mapping[str, Paper] = {
    "cp2021": Paper(
        "cp2021.md",
        {"hcp19": "HCP'19", "pcp19": "PCP'19", "pcp21": "PCP'21", "pcp21s": "PCP'21s"},
        [
            Printing(f"Table 1: on {EURORA}", "eurora", _of_cp2021("eurora")),
            Printing(f"Table 2: on {KIT}", "kit", _of_cp2021("kit")),
        ],
        [
            Bars("figure-5", "Eurora", "eurora", _bars(["hcp19", "pcp19", "pcp21"], "DR")),
            Bars(
                "figure-10", "KIT", "kit",
                _bars(["hcp19", "pcp19", "pcp21", "pcp21s"], ["L2", "R"]),
            ),
        ],
    ),
    "pcp20": Paper(
        "pcp20.md",
        {"hcp19": "HCP'19", "pcp19": "PCP'19", "pcp20": "PCP'20"},
        [
            Printing(
                f"Table 1: on {KIT}", "kit",
                _rows(
                    ("hcp19", "L2", 292, 58_934), ("pcp19", "L2", None, None),
                    ("pcp20", "L2", 537, 108_608), ("hcp19", "R", 270, 54_719),
                    ("pcp19", "R", None, None), ("pcp20", "R", 662, 133_086),
                ),
            ),
            Printing(
                f"Table 2: on {EURORA}", "eurora",
                _rows(
                    ("hcp19", "D", 411, 219_142), ("pcp19", "D", 565, 301_078),
                    ("pcp20", "D", 252, 134_240), ("hcp19", "R", 385, 204_363),
                    ("pcp19", "R", 512, 272_925), ("pcp20", "R", 364, 193_751),
                ),
            ),
        ],
        [
            Bars("figure-4", "KIT", "kit", _bars(["hcp19", "pcp19", "pcp20"], ["L2", "R"])),
            Bars("figure-5", "Eurora", "eurora", _bars(["hcp19", "pcp19", "pcp20"], "DR")),
        ],
    ),
    "thesis2020": Paper(
        "thesis2020.md",
        THESIS_NAMES,
        [
            Printing(
                f"Table 5.3: on {EURORA}", "eurora",
                _rows(
                    ("pcp1", "W", 743, 262_436), ("pcp19", "R", 692, 261_985),
                    ("pcp19", "D", 701, 262_764), ("hcp", "W", 1_014, 374_788),
                    ("hcp1", "W", 703, 245_663), ("hcp19", "R", 523, 201_223),
                    ("hcp19", "D", 575, 215_814),
                ),
            ),
            Printing(
                f"Table 6.1: on {KIT}", "kit",
                _rows(
                    ("pcp19", "W", None, None), ("pcp19", "R", None, None),
                    ("pcp19", "L2", None, None), ("pcp4", "W", 823, 165_490),
                    ("pcp4", "R", 782, 156_823), ("pcp4", "L2", 807, 162_564),
                    ("pcp20", "W", 523, 57_851), ("pcp20", "R", 575, 108_541),
                    ("pcp20", "L2", 537, 56_196),
                ),
            ),
        ],
        [
            Bars("figure-5.2", "PCP dispatchers on Eurora", "eurora", THESIS_PCP),
            Bars("figure-5.3", "HCP dispatchers on Eurora", "eurora", THESIS_HCP),
            Bars(
                "figure-6.6", "PCP₄ and PCP₅ on KIT", "kit",
                _bars(["pcp4", "pcp20"], ["W", "L2", "R"]),
            ),
        ],
        beside_lists=False,
    ),
    "thesis2020-gaia": Paper(
        "thesis2020-gaia.md",
        THESIS_NAMES,
        [
            Printing(
                "Table 5.4: on a stretch of the log of Gaia", "gaia",
                _rows(
                    ("pcp1", "W", 78, 6_380), ("pcp19", "R", 99, 8_155), ("pcp19", "D", 89, 7_445),
                    ("hcp", "W", 103, 8_561), ("hcp1", "W", 82, 6_781),
                    ("hcp19", "R", 85, 7_016), ("hcp19", "D", 84, 7_090),
                ),
            ),
        ],
        [
            Bars(
                "figure-5.5", "PCP and HCP dispatchers on Gaia", "gaia",
                [*THESIS_PCP, *THESIS_HCP],
            ),
        ],
        beside_lists=False,
        searches=True,
    ),
}  # fmt: skip


def _on_the_log(paper: Paper) -> Paper:
    """Return what a paper has of Eurora and of predictions that the real log allows: W and R."""
    rest = paper._replace(tables=[], figures=[], searches=not paper.beside_lists)
    for table in paper.tables:
        if table.system == "eurora":
            title = table.title.replace(EURORA, EURORA_LOG)
            rows = [row for row in table.rows if row.predictor in "WR"]
            rest = rest._replace(tables=[*rest.tables, Printing(title, "eurora-log", rows)])
    for figure in paper.figures:
        if figure.system == "eurora":
            bars = [bar for bar in figure.bars if bar[1] in "WR"]
            kept = figure._replace(system="eurora-log", bars=bars)
            rest = rest._replace(figures=[*rest.figures, kept])
    return rest


PAPERS: Mapping[str, Paper] = {
    **_PAPERS,
    **{
        f"{label}-eurora": _on_the_log(_PAPERS[label])
        for label in ("cp2021", "pcp20", "thesis2020")
    },
}
"""What is shown, by the label of the paper."""
