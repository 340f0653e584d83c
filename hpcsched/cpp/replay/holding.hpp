#pragma once

#include "core/state.hpp"

namespace hpcsched {

/// Jobs that Python holds back: dependencies, limits, recorded starts.

/// Return the earlier of an event and the next release of a job that is held back.
int64_t earlier_release(const State& state, int64_t event);

/// Whether the set of jobs that are held back may have changed since the last round.
bool needs_look(const State& state);

/// Whether jobs that were held back in a round may be released now.
bool needs_second_look(const State& state);

/// Hold back some jobs, or release those of them that are held back.
void turn_about(State& state, const Numbers& rows);

}  // namespace hpcsched
