#pragma once

#include "core/state.hpp"

namespace hpcsched {

/// Preemption: running jobs end or are suspended for queued ones, chosen as Slurm chooses them.

/// After a round, preempt running jobs for queued ones that do not fit now and that the rule starts
/// once those are gone; start these. Jobs with a grace time end later, and their preemptor waits on.
/// Returns the rows of jobs that are to be put back into the queue.
Numbers preempt(State& state);

/// End a job now if it has not run to its own end, since it is preempted; return whether it is.
bool end_preempted(State& state, int64_t row);

/// Put a preempted job back into the queue, to start again after a delay.
void requeue(State& state, int64_t row);

/// Release the requeued jobs that may start again.
void release_requeued(State& state);

/// Return the earlier of an event and the next of these releases.
int64_t earlier_requeue(const State& state, int64_t event);

/// Resume the suspended jobs whose resources are free again, in order of suspension.
void resume_all(State& state);

/// End the suspension of a job, and write it.
void stop_suspension(State& state, int64_t row);

/// Add the amounts that suspended jobs have released to free ones, `[R]`.
void add_released(const State& state, View<int64_t> free);

}  // namespace hpcsched
