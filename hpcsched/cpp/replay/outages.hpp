#pragma once

#include "core/state.hpp"

namespace hpcsched {

/// Outages: nodes that go out of service or come back, the jobs that they end, and requests on the
/// nodes that stay in service.

/// Return the earlier of an event and the next begin or end of an outage, if it matters.
int64_t earlier_change(const State& state, int64_t event);

/// Apply all outages that begin or end by now. Jobs that lose a node are put back into the queue,
/// or leave as failed, by predicted end.
void pass_outages(State& state);

/// Narrow the requests of all queued jobs to the nodes that are up and that no announced outage
/// takes before the job's predicted end if it starts now. A request on fewer nodes is another
/// shape. Later starts may use all nodes that have not failed. A job for which its nodes are too few
/// even if they are idle is held back: those of now, or those of later where plans reach past
/// outages.
void narrow_all(State& state);

}  // namespace hpcsched
