#pragma once

#include "core/codes.hpp"

namespace hpcsched {

/// A job in the system. Python knows its numbers by name; see bindings/job_fields.hpp.
struct alignas(64) Job {
    // What a round reads of each queued job: the first cache line.
    int64_t waits;
    int64_t units;
    int64_t shape;
    int64_t predicted;
    Reason why;
    int64_t other;  // row, or shared resource, of the reason
    int64_t backfilled;  // whether a job ahead of it in the queue waited on as it started
    int64_t shown_end;  // seen by rules; another one once the prediction has run out

    int64_t number;  // of a free row: the next one
    int64_t sequence;  // rank in order of submission
    int64_t submit_time;
    int64_t run_time;
    int64_t requested_time;
    int64_t expected;  // run time, as expected at its submission; see `ExpectedRunTimes`
    int64_t start;
    int64_t end;
    int64_t planned_end;  // predicted at the start
    int64_t cell;  // first of its places, or of the reserved ones
    int64_t promise;  // start first promised; of a chosen job, its expected start
    int64_t when;  // reservation of one round
    int64_t held;  // a bit for each cause that hides it from rules
    int64_t requeues;
    int64_t lost_time;
    int64_t request;  // shape as submitted; beside outages `shape` is one on fewer nodes
    int64_t later;  // shape for planned starts: on the nodes that have not failed
    int64_t span;  // announced outage begins that it would reach; -1: not computed
    int64_t watched;  // whether it may change the set of jobs that are held back
    int64_t reserved;  // start of the reservation that is kept from round to round
    int64_t made_after;  // rows of the next and the previous reservation of a round
    int64_t made_before;
    int64_t limits;  // set of limits; none: -1
    int64_t rank;  // jobs of a higher one come before all others
    int64_t kind;  // class in preemption; -1: neither preempts nor is preempted
    int64_t preemptor;  // number of the job for which it ends or is suspended
    int64_t claims_until;  // when the jobs that it preempts are gone; -1 without any
    int64_t done;  // seconds of work that checkpoints have saved
    int64_t suspended_since;  // -1: it is not suspended
    int64_t suspended;  // seconds since its start, without the present suspension
    int64_t leave;  // when it is withdrawn if it still waits; `never` if it is not
};

/// A time at which something happens to a job that still waits for its first start.
struct Timer {
    int64_t time;
    int64_t sequence;
    int64_t row;
};

/// A stretch of a job's places: an interval of slots, or units on a node.
struct Cell {
    union {
        int64_t low;
        int64_t node;
    };
    union {
        int64_t high;  // behind the last slot
        int64_t units;
    };
    int64_t next;
    int64_t devices = 0;  // parts that a unit takes; see `DeviceRequest`
};

/// A job that has left the system.
struct LeftJob {
    int64_t sequence;
    int64_t start;
    int64_t end;
    int64_t predicted;
    int64_t last_place;  // end of its places in the list of places
    int64_t how;  // `Left`, and the cause of a refusal
    int64_t requeues;
    int64_t lost_time;  // of all attempts that were requeued; of an attempt, its own
    int64_t preemptor;
    int64_t ran;  // seconds that the attempt ran
    int64_t work;  // run time without checkpoints
    int64_t backfilled;
};

/// An event for observers.
struct Event {
    EventKind kind;
    int64_t time;
    int64_t number;  // rank of the job, or row in the table of rounds
    int64_t row;  // of the job, or the cause of a refusal
    int64_t value;
    int64_t expected = 0;  // run time of a submitted job, or seconds that a lost attempt ran
};

/// A dispatching round.
struct RoundRecord {
    int64_t number;
    int64_t now;
    int64_t queued;
    int64_t running;
    int64_t started;
    int64_t waiting;
    int64_t latency;
    int64_t call_again;  // requested time of the next round; `never` without one
};

}  // namespace hpcsched
