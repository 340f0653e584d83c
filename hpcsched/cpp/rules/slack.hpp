#pragma once

#include "core/state.hpp"
#include "rules/round_plan.hpp"

namespace hpcsched {

/// Start a job, for which there is room now, if the reservations in its way can be moved, none past
/// its latest start; otherwise each reservation is restored. Returns whether it has started.
bool push_aside(State& state, RoundPlan& plan, int64_t row);

}  // namespace hpcsched
