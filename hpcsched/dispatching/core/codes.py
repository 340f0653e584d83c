"""Numbers by which the core names its choices, its counters and the columns of its tables.

Compiled code knows them as constants.
"""

# Rules.
EASY, STRICT, GREEDY, BACKFILL, RELAXED = range(5)

# Allocators.
FIRST_FIT, BEST_FIT, KEEP_SCARCE, WEIGHTED, BALANCED, HYBRID = range(6)

# Corrections of predictions that have run out; of those that are `ASKED_FOR`, Python is asked.
ONE_SECOND, DOUBLING, TO_REQUESTED_TIME, ASKED_FOR = range(4)

# Why the loop of events returns: it is over; it needs the next jobs; its output tables are full;
# it needs more rows for jobs in the system, or more cells for their places; time is up; or Python
# is to be asked for predictions of the jobs that are submitted now, or for corrected ones.
(
    DONE,
    NEEDS_JOBS,
    OUTPUT_FULL,
    NEEDS_ROWS,
    NEEDS_CELLS,
    PAUSED,
    NEEDS_PREDICTIONS,
    NEEDS_CORRECTIONS,
) = range(8)

# Phases of an instant, in this order; the loop can be left and entered in each.
NEXT_INSTANT, ENDS, SUBMISSIONS, ROUNDS, ZERO_ENDS = range(5)

# Columns of the table of jobs in the system. `SEQUENCE` is the job's place among all submitted;
# `PLANNED_END` the end predicted at its start, and `SHOWN_END` that which rules are shown, which
# differs once the prediction has run out. `CELL` begins the list of its places. `WAITS` is 1 while
# it is queued. `PROMISE` is when it was promised to start, by a rule that keeps promises from round
# to round; `NEVER` before.
(
    NUMBER,
    SEQUENCE,
    SUBMIT_TIME,
    RUN_TIME,
    PREDICTED,
    REQUESTED,
    UNITS,
    SHAPE,
    START,
    END,
    PLANNED_END,
    SHOWN_END,
    CELL,
    WAITS,
    PROMISE,
) = range(15)
JOB_COLUMNS = 15

# Counters. `NEXT` is the next job of the batch, and from `FORESEEN` on predictions are still to be
# asked for. `FREE_ROW` and `FREE_CELL` begin lists of unused
# ones, `FREE_SLOTS` counts slots and `INTERVALS` the intervals in which they lie. `CELL_DEMAND` is
# how many cells the queued jobs need at most, `MOST_CELLS` how many can ever be in use.
(
    NOW,
    PHASE,
    ROUND,
    NEXT,
    SUBMITTED,
    QUEUED,
    RUNNING,
    FREE_ROW,
    FREE_CELL,
    CELLS_FREE,
    CELL_DEMAND,
    MOST_CELLS,
    FREE_SLOTS,
    INTERVALS,
    ACTIVE_SHAPES,
    STARTED,
    OUT_JOBS,
    OUT_PLACES,
    OUT_ROUNDS,
    ENDED_ANY,
    FORESEEN,
) = range(21)
COUNTERS = 21

# Columns of the table of jobs that have left: the place among all submitted, start, end and
# predicted run time, and where its places end in the list of places.
OUT_SEQUENCE, OUT_START, OUT_END, OUT_PREDICTED, OUT_LAST_PLACE = range(5)
OUT_COLUMNS = 5

# Columns of the table of rounds; the amounts that wait and that are free follow them.
ROUND_NUMBER, ROUND_NOW, ROUND_QUEUED, ROUND_RUNNING, ROUND_STARTED, ROUND_WAITING = range(6)
ROUND_COLUMNS = 6

NEVER = 1 << 62
"""Later than any time."""
