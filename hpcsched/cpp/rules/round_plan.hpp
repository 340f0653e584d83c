#pragma once

#include "core/profile.hpp"
#include "core/steps.hpp"

namespace hpcsched {

/// Free capacity from now on, as a round plans it: steps where units can be counted, otherwise a
/// profile of each node.
///
/// Counting is right where slots are counted, and where all jobs that wait ask for the same of a
/// node. Any free slot takes any unit, and units that are placed in order of their start times
/// never conflict as long as no instant needs more slots than there are (intervals with at most `k`
/// at once can be coloured with `k` colours in order of their starts). So a plan that holds by
/// count can always be carried out. Likewise units of one shape can be counted, whatever runs: on
/// each node more and more of them fit as running jobs end. Exclusive jobs are the exception, as
/// the capacity that they take depends on their placement; jobs with one unit per node, as a unit
/// leaves room beside it for units of others; and so is the time before an outage, when fewer and
/// fewer fit.
struct RoundPlan {
    bool by_count;
    Steps steps;
    Profile profile;
};

/// Return the free units over time, for units of a shape.
Steps open_steps(State& state, int64_t shape);

/// Return the plan of a round. `counted`: whether counting units is enough (see `counts_units`).
RoundPlan open_plan(State& state, bool counted);

}  // namespace hpcsched
