"""Codes of the core: its choices, its counters and the columns of its tables.

`hpcsched/cpp/core` has the same numbers as enumerations and records.
"""

# Rules; those of the second line get reservations with the problem.
EASY, STRICT, GREEDY, BACKFILL, RELAXED, COMMITTED, COMMITTED_BACKFILL = range(7)
CONSERVATIVE, SLACK, BESIDE_PLAN = range(7, 10)
# Not a rule of the core: Python is asked for each decision.
IN_PYTHON = -1

# Rules that promise the head job a start in each round, even if no job fits.
PROMISING = RELAXED, COMMITTED, COMMITTED_BACKFILL

# Orders in which reservations are moved to earlier times.
BY_ARRIVAL, BY_RESERVATION = range(2)

# Allocators. `EXTERNAL` is an object in Python.
FIRST_FIT, BEST_FIT, KEEP_SCARCE, WEIGHTED, BALANCED, HYBRID = range(6)
EXTERNAL = -1

# Reasons of a waiting job: there is no room now; starting it would delay the job `OTHER`; that job
# waits and none may pass it; the limit on reservations was reached before it; nodes have room, but
# the shared resource with the number in `OTHER` is short.
NO_ROOM, RESERVED_FOR, BEHIND, BEYOND_DEPTH, SHORT_OF_SHARED = range(5)

# Corrections of predictions that have run out; Python computes those that are `ASKED_FOR`.
ONE_SECOND, DOUBLING, TO_REQUESTED_TIME, ASKED_FOR = range(4)

# Causes for which the event loop returns: the replay is over; the batch of jobs is used up; the
# output tables are full; more rows for jobs in the system, cells for their places, or shapes are
# needed; time is up; or Python must compute predictions of jobs that are submitted now, corrected
# predictions, the jobs that are held back in the next round, or released after the last, the due
# time of a decision, the order of the queue, or the decision itself.
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

# Columns of the table of jobs in the system. `SEQUENCE` is the job's rank in order of submission.
# `PLANNED_END` is the end predicted at its start, `SHOWN_END` the end that rules see, which differs
# once the prediction has run out. `CELL` is the first cell of its places. `WAITS` is 1 while it is
# queued; `HELD` has a bit for each cause that holds it back and hides it from rules, 0 without one.
# `REQUEUES` attempts to run it were lost, with `LOST_TIME` in total. `REQUEST` is its shape as
# submitted; beside outages `SHAPE` is one on fewer nodes, and `SPAN` is the number of announced
# outage begins that its run time would reach if it started now (-1: not computed). The submission,
# start or end of a `WATCHED` job may change the set of jobs that are held back. `WHY` it waits, the
# row `OTHER` of the reason, and `WHEN` it has a reservation are of one round (-1: none); rules
# write them where they know them.
#
# Rules that keep promises from round to round use `PROMISE`, the start first promised, and
# `RESERVED`, the start of the present reservation; both are `NEVER` before. Until the job starts,
# `CELL` begins the list of its reserved nodes, or is -1. `MADE_AFTER` and `MADE_BEFORE` are rows:
# those of the next and the previous reservation in the order in which a round made them. With
# `COMMITTED` and `COMMITTED_BACKFILL`, a job with a `PROMISE` is the chosen one: it starts next.
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

# Counters. `NEXT` is the next job of the batch; from `FORESEEN` on, jobs have no prediction yet.
# `FREE_ROW` and `FREE_CELL` begin lists of unused ones, `FREE_SLOTS` counts slots and `INTERVALS`
# their intervals. `CELL_DEMAND` is the maximum number of cells that queued jobs need, `MOST_CELLS`
# the maximum ever in use. `HELD_BACK` counts the jobs that are hidden from rules. `REQUESTS` counts
# the shapes of submitted jobs, `SHAPES` those and the narrowed ones. `CHANGE` is the next begin or
# end of an outage, `CLOSED` counts the nodes out of service, and `LIMITS` the distinct begins of
# the nodes' next announced outages. `ALTERED` is 1 while jobs may run on nodes out of service, and
# `STALE` is 1 when the eligible nodes of jobs must be computed again. Plans of a round consider
# outages up to `REACH`. `CHANGED` is 1 when the set of jobs that are held back must be computed
# again, and `RELEASE` the time at which it must be even without an event; `TURNED` counts the jobs
# to hold back or to release. `FREED_UNTIL` is the latest predicted end of the jobs that have ended
# since the last round, which was at `LAST_ASKED`. `FIRST_MADE` and `LAST_MADE` are the rows of the
# first and the last reservation of this round. `ORDERED` is 1 once Python has sorted the queue for
# the next round.
# `FLYING` is 1 while a decision is pending: requested at `ASKED`, for `ASKED_...` jobs, and due at
# `DUE`. `DECIDED` counts the jobs that it starts, and `FLYING_CHANGED` is 1 after an event in the
# meantime. `ANSWERED` is 1 once Python has made the decision of a round; it rejects `DISMISSED`
# jobs. `CALL_AGAIN` is the time at which it asked to be called again, `NEVER` if it did not.
# `PAUSED_AT` is the last instant after which the loop has returned, where it does after each.
# `LAST_EVENT` is the last event other than a change of a shared resource's capacity, and `MOVED` is
# 1 when jobs have started or ceased to draw. With `BESIDE_PLAN`, `STARTING` queued jobs have a
# planned start now, and `PLANNED` any.
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
    CALL_AGAIN,
) = range(57)
COUNTERS = 57

# Columns of the table of jobs that have stopped running: rank in order of submission, start, end
# and predicted run time, end of its places in the list of places, how it stopped, lost attempts.
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

# Causes that hold a job back, one bit each: outages leave too few nodes, or a cause computed by
# Python.
HELD_BY_OUTAGES, HELD_BY_OTHERS = 1, 2

# How a job stops running: it ends; or it loses a node, and leaves or is queued again. Or it never
# runs, since it was refused at submission or by the dispatcher: the cause is added to `REJECTED`.
ENDED, FAILED, REQUEUED, REJECTED = range(4)

# Events for observers, and the columns of their table. `EVENT_NUMBER` is the job's rank in order of
# submission, or the row in the table of rounds; `EVENT_ROW` is the row of the job, or the cause if
# it is refused at submission. `EVENT_VALUE` is the predicted run time at a submission, the end of
# the places at a start, and whether a job that has lost a node is queued again. A job that the
# dispatcher rejects is a `DISMISSED_JOB`.
SUBMITTED_JOB, REJECTED_JOB, STARTED_JOB, LOST_JOB, ENDED_JOB, ASKED_ROUND, HELD_ROUND = range(7)
DISMISSED_JOB = 7
EVENT_KIND, EVENT_TIME, EVENT_NUMBER, EVENT_ROW, EVENT_VALUE = range(5)
EVENT_COLUMNS = 5

# Columns of the table of rounds. They are followed by the waiting amounts, the free amounts, and
# the amounts × seconds that were idle although jobs waited for them.
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
