#pragma once

#include "core/state.hpp"

namespace hpcsched {

/// Start planned jobs, then unplanned ones that delay no planned one. The first
/// `Counters::starting` rows of the queue are jobs that the plan starts now; the next, up to
/// `Counters::planned`, have later planned starts, in this order. Planned nodes are noted with each
/// job.
void fill_beside_plan(State& state);

}  // namespace hpcsched
