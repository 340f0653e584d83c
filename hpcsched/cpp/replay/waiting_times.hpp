#pragma once

#include "core/state.hpp"

namespace hpcsched {

/// Waiting times that jobs bring with them: before their begin time they are held back, and at the
/// end of their patience those that still wait are withdrawn.

/// Hold back a job that is submitted until its begin time, and note when it leaves.
void note_waiting_times(State& state, int64_t k, int64_t row);

/// Return the earlier of an event and the next begin time or withdrawal.
int64_t earlier_timer(State& state, int64_t event);

/// Release the jobs whose begin time has come, and withdraw those that wait no longer.
void pass_timers(State& state);

}  // namespace hpcsched
