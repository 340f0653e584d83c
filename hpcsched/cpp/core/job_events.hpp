#pragma once

#include "core/state.hpp"

namespace hpcsched {

/// Transitions of jobs: into the queue, to running, and out again.

/// Put job `k` of the batch into the queue, in a free row, which is returned.
int64_t submit(State& state, int64_t k);

/// Put a job whose attempt has ended early back into the queue.
void put_back(State& state, int64_t row);

/// Start a queued job now, on places that are taken already. Its row stays in the queue until
/// `leave_queue`.
void begin(State& state, int64_t row, int64_t cell);

/// Set or clear a bit of `Job::held`.
void set_held(State& state, int64_t row, int64_t by, bool holds);

/// Hide the jobs that are held back from a round, until `leave_queue`.
void hold_back(State& state);

/// Remove a waiting job from the queue.
void drop_from_queue(State& state, int64_t row);

/// Remove started jobs from the queue, and merge jobs that were held back into it.
void leave_queue(State& state);

/// Take the capacity of a job's units on nodes; return the first cell of its places.
int64_t take_nodes(State& state, int64_t row, const Placement& placed);

/// End the job on top of the heap of ends: learn from its run time, and free its resources and row.
void end_first(State& state);

/// Remove a row from the heap of ends, wherever it is.
void drop_end(State& state, int64_t row);

/// Set the real and the predicted end of a running job.
void move_end(State& state, int64_t row, int64_t end, int64_t predicted_end);

/// Free the row of a job.
void forget(State& state, int64_t row);

/// Remove a job from the running ones; its resources are not freed yet.
void stop_running(State& state, int64_t row);

/// Put running jobs into order after their planned ends have changed.
void sort_running(State& state);

/// End a job and release its resources.
void give_back(State& state, int64_t row);

/// Return the seconds that a job has run since its start; it is not suspended.
inline int64_t elapsed(const Job& job, int64_t now)
{
    return now - job.start - job.suspended;
}

/// Return a share of a job's wait until a time, in whole seconds, rounded down.
int64_t share_of_wait(const Job& job, int64_t until, double share);

}  // namespace hpcsched
