"""Codes of the core: its choices, its counters and the columns of its tables.

Compiled code contains them as constants.
"""

# Rules; those of the second line are given reservations with a problem.
EASY, STRICT, GREEDY, BACKFILL, RELAXED, COMMITTED, COMMITTED_BACKFILL = range(7)
CONSERVATIVE, SLACK, BESIDE_PLAN = range(7, 10)
# Not a rule of the core: Python is asked for each decision.
IN_PYTHON = -1

# Rules of which the head job is promised something in each round, though no job may fit.
PROMISING = RELAXED, COMMITTED, COMMITTED_BACKFILL

# In which order reservations are moved to earlier times.
BY_ARRIVAL, BY_RESERVATION = range(2)

# Allocators. `EXTERNAL` is an object in Python, which only plain Python can ask.
FIRST_FIT, BEST_FIT, KEEP_SCARCE, WEIGHTED, BALANCED, HYBRID = range(6)
EXTERNAL = -1

# Why a job waits: there is no room now; starting it would delay `OTHER`, or that one waits and none
# may pass it; it came after all reservations were given out; or there is room on nodes, and the
# pool with the number in `OTHER` has too little.
NO_ROOM, RESERVED_FOR, BEHIND, BEYOND_DEPTH, SHORT_OF_POOL = range(5)

# Corrections of predictions that have run out; of those that are `ASKED_FOR`, Python is asked.
ONE_SECOND, DOUBLING, TO_REQUESTED_TIME, ASKED_FOR = range(4)

# Why the loop of events returns: it is over; it needs the next jobs; its output tables are full;
# it needs more rows for jobs in the system, more cells for their places, or more shapes; time is
# up; or Python is to be asked for predictions of jobs that come now, or for corrected ones, or
# which jobs are held back in the next round, or whether those of the last still are, or when the
# decision of a round is due, or in which order it considers jobs, or for the decision itself.
(
    DONE,
    NEEDS_JOBS,
    OUTPUT_FULL,
    NEEDS_ROWS,
    NEEDS_CELLS,
    NEEDS_SHAPES,
    PAUSED,
    NEEDS_PREDICTIONS,
    NEEDS_CORRECTIONS,
    NEEDS_LOOK,
    NEEDS_SECOND_LOOK,
    NEEDS_CHARGE,
    NEEDS_ORDER,
    NEEDS_DECISION,
) = range(14)

# Phases of an instant, in this order; the loop can be left and entered in each.
NEXT_INSTANT, ENDS, OUTAGES, SUBMISSIONS, ROUNDS, FLIGHT, LOOKS, ZERO_ENDS = range(8)

# Columns of the table of jobs in the system. `SEQUENCE` is the job's place among all submitted;
# `PLANNED_END` the end predicted at its start, and `SHOWN_END` that which rules are shown, which
# differs once the prediction has run out. `CELL` begins the list of its places. `WAITS` is 1 while
# it is queued; `HELD` says what holds it back, so that rules are not shown it, and is 0 otherwise.
# `REQUEUES` tries to run it were lost, `LOST_TIME` in all. `REQUEST` is its shape as submitted;
# beside outages `SHAPE` is one on fewer nodes, and `SPAN` says how many announced beginnings of
# outages its run time would reach if it started now (-1: not looked at). Once one that is `WATCHED`
# is submitted, starts or ends, others may be held back, or not any more. `WHY` it waits, the row of
# the `OTHER` job that this is about, and `WHEN` it has a reservation are of one round (-1: none);
# rules write them down as far as they come to know.
#
# Rules that keep promises from round to round note when it was promised to start, `PROMISE`, and
# for when it has a reservation at present, `RESERVED`; both are `NEVER` before. Until it starts,
# `CELL` begins the list of the nodes that are reserved, or is -1. `MADE_AFTER` and `MADE_BEFORE`
# are the rows whose reservations were made next and before its own in a round. With `COMMITTED` and
# `COMMITTED_BACKFILL`, a job that has a `PROMISE` is chosen: it starts next.
(
    NUMBER,
    SEQUENCE,
    SUBMIT_TIME,
    RUN_TIME,
    REQUESTED,
    PREDICTED,
    UNITS,
    SHAPE,
    START,
    END,
    PLANNED_END,
    SHOWN_END,
    CELL,
    WAITS,
    PROMISE,
    WHY,
    OTHER,
    WHEN,
    HELD,
    REQUEUES,
    LOST_TIME,
    REQUEST,
    SPAN,
    WATCHED,
    RESERVED,
    MADE_AFTER,
    MADE_BEFORE,
) = range(27)
JOB_COLUMNS = 27

# Counters. `NEXT` is the next job of the batch, and from `FORESEEN` on predictions are still to be
# asked for. `FREE_ROW` and `FREE_CELL` begin lists of unused ones, `FREE_SLOTS` counts slots and
# `INTERVALS` the intervals in which they lie. `CELL_DEMAND` is how many cells the queued jobs need
# at most, `MOST_CELLS` how many can ever be in use. `HELD_BACK` counts the jobs that rules are not
# shown. Of `REQUESTS` shapes jobs are submitted; with those on fewer nodes `SHAPES` are in use.
# `CHANGE` is the next beginning or end of an outage, `CLOSED` counts the nodes that are out of
# service, and `LIMITS` the instants at which announced outages begin next. `ALTERED` is 1 while
# jobs may still run on nodes that are out of service, and `STALE` when it has to be worked out anew
# which nodes jobs may use. Plans of a round look at outages up to `REACH`. `CHANGED` is 1 when
# it has to be worked out anew who is held back, and `RELEASE` when that has to be done next even if
# nothing happens; `TURNED` counts those whom it turns about. `FREED_UNTIL` is the latest predicted
# end of the jobs that have ended since the last round, which was at `LAST_ASKED`. `FIRST_MADE` and
# `LAST_MADE` are rows: the first and the last reservation made in this round.
# `ORDERED` is 1 once Python has put the queue in order for the next round.
# `FLYING` is 1 from when a decision was `ASKED` for, of so many jobs, to when it is `DUE`. So many
# jobs are `DECIDED` to be started then, and `FLYING_CHANGED` is 1 once anything has happened. Once
# Python has made the decision of a round, `ANSWERED` is 1; it rejects `DISMISSED` jobs. `PAUSED_AT`
# is the last instant after which the loop has returned, where it does after each.
# What is free of pools is `POOL_STEPS` steps, in which changes of capacity are worked in up to
# `POOL_UPTO`, and jobs up to `POOL_LAST`. `LAST_EVENT` is when anything happened last but such a
# change, and `MOVED` is 1 where jobs have begun or ended to draw.
# With `BESIDE_PLAN`, `STARTING` queued jobs are planned to start now, and `PLANNED` in all.
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
    HELD_BACK,
    REQUESTS,
    SHAPES,
    CHANGE,
    CLOSED,
    LIMITS,
    ALTERED,
    STALE,
    REACH,
    CHANGED,
    RELEASE,
    TURNED,
    OUT_EVENTS,
    OUT_START_PLACES,
    FREED_UNTIL,
    FIRST_MADE,
    LAST_MADE,
    ASKED,
    ASKED_QUEUED,
    ASKED_RUNNING,
    ASKED_SHOWN,
    DECIDED,
    DUE,
    FLYING,
    FLYING_CHANGED,
    POOL_STEPS,
    POOL_UPTO,
    POOL_LAST,
    LAST_EVENT,
    MOVED,
    OUT_LEVELS,
    STARTING,
    PLANNED,
    LAST_ASKED,
    ORDERED,
    ANSWERED,
    DISMISSED,
    PAUSED_AT,
) = range(59)
COUNTERS = 59

# Columns of the table of jobs that have stopped running: the place among all submitted, start, end
# and predicted run time, where its places end in the list of places, how it stopped, and what
# attempts were lost.
(
    OUT_SEQUENCE,
    OUT_START,
    OUT_END,
    OUT_PREDICTED,
    OUT_LAST_PLACE,
    OUT_HOW,
    OUT_REQUEUES,
    OUT_LOST_TIME,
) = range(8)
OUT_COLUMNS = 8

# What holds a job back, each a bit: the nodes that outages leave to it are too few, or something
# that Python works out.
HELD_BY_OUTAGES, HELD_BY_OTHERS = 1, 2

# How a job stops running: it ends; or it loses a node, and leaves or waits again. Or it never runs,
# since it was refused when it was submitted: what refused it is added to `REJECTED`.
ENDED, FAILED, REQUEUED, REJECTED = range(4)

# Events that are followed, and the columns of their table. `EVENT_NUMBER` is the job's place among
# all submitted, or the row of the round in the table of rounds; `EVENT_ROW` is the job's in that of
# jobs, or of one that is submitted and rejected at once what refused it. `EVENT_VALUE` is the
# predicted run time at a submission; at a start, where the places end; for a job that has lost a
# node, whether it waits again. A job that the dispatcher rejects is a `DISMISSED_JOB`.
SUBMITTED_JOB, REJECTED_JOB, STARTED_JOB, LOST_JOB, ENDED_JOB, ASKED_ROUND, HELD_ROUND = range(7)
DISMISSED_JOB = 7
EVENT_KIND, EVENT_TIME, EVENT_NUMBER, EVENT_ROW, EVENT_VALUE = range(5)
EVENT_COLUMNS = 5

# Columns of the table of rounds. The amounts that wait follow them, those that are free, and those
# that were free although they were waited for, × seconds.
(
    ROUND_NUMBER,
    ROUND_NOW,
    ROUND_QUEUED,
    ROUND_RUNNING,
    ROUND_STARTED,
    ROUND_WAITING,
    ROUND_LATENCY,
) = range(7)
ROUND_COLUMNS = 7

NEVER = 1 << 62
"""A time later than any other, in seconds."""
