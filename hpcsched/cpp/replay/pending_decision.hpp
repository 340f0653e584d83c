#pragma once

#include "core/state.hpp"

namespace hpcsched {

/// Decisions that take simulated time, or that Python makes: their making, delay and application. A
/// rule of the core starts jobs as it decides; where that takes simulated time, the starts are
/// taken back until the decision is due. Python's decisions come as lists.

/// Take back the starts of a round until its decision is due; their places stay reserved. `queued`
/// and `running` are the numbers of jobs before the round.
void take_back(State& state, int64_t queued, int64_t running);

/// Take Python's decision for a round; return whether it is applied at once. The places of the jobs
/// that it starts are in their cells.
bool take_answer(State& state);

/// Advance to the next event or to the due time of the decision; return whether the event comes
/// first or at the same time.
bool fly(State& state, int64_t event);

/// Apply the decision that is due; jobs without their nodes or shared resources do not start.
void carry_out(State& state);

/// Reject the queued jobs when nothing runs or is to come, if they wait for limits that are used up.
void reject_used_up(State& state);

}  // namespace hpcsched
