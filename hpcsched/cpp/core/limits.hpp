#pragma once

#include "core/state.hpp"

namespace hpcsched {

/// Limits of groups of running jobs. Where there are none, no job is beyond one.

/// Count a job that starts (sign 1) in its groups, or count it out again (-1).
void switch_usage(State& state, int64_t row, int64_t sign);

/// Return the first limit that a job would break if it started now; -1 if none.
int64_t broken_limit(const State& state, int64_t row);

/// Whether a job waits and may start as far as limits are concerned.
inline bool is_tried(const State& state, int64_t row)
{
    if (state.jobs[row].waits == 0) return false;
    return !state.limits.any || broken_limit(state, row) == none;
}

/// Note that a job waits for a limit.
void note_limit(State& state, int64_t row);

/// Hold back the queued jobs that are beyond a limit now, and release the others; return whether
/// any was released. Where dispatchers know no limits, jobs are released only as far as all of them
/// may start together, in the order of the queue.
bool hold_limited(State& state);

/// Whether all queued jobs wait for limits, or for jobs that do, while nothing runs.
bool wait_for_used_up(State& state);

/// Find the time at which a waiting job may be within its limits, as running jobs have less time
/// left.
void find_limit_release(State& state);

/// Return the earlier of an event and that time.
int64_t earlier_limit(const State& state, int64_t event);

}  // namespace hpcsched
