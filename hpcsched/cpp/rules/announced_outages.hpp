#pragma once

#include "core/state.hpp"

namespace hpcsched {

/// Plans beside announced outages, present ones and later ones. One is relevant if it begins before
/// all running jobs and all outages have ended that a job could reach now, and then the longest
/// waiting job: plans beyond that are worth little, and there may be many.

/// Whether announced outages are within the reach of this round's plans.
bool any_ahead(const State& state);

/// Whether outage `k` is one of them.
bool is_ahead(const State& state, int64_t k);

/// Free amounts now, as if present announced outages were over.
NodeRuns runs_in_service(State& state);

/// Estimated end of the last running job, or now if none runs.
int64_t last_running_end(State& state);

/// Whether counting units is enough to plan waiting jobs, regardless of running ones: if all have
/// one shape whose units can be counted, beside no shared resources and no outages ahead. Before an
/// outage fewer and fewer units fit, and shared resources may have too little for some. Finds the
/// reach of plans; to be called before the round starts any job.
bool counts_units(State& state);
bool counts_units(State& state, int64_t last_end);

/// The reservation of a head job: its shadow time, and its units that fit then beyond its own.
struct Shadow {
    int64_t time;  // `never` if shared resources never suffice
    int64_t spare;
};

/// Return a shadow moved to where outages and shared resources let the head job start. Free amounts
/// then are updated.
Shadow move_shadow(State& state, int64_t head, Shadow shadow, NodeRuns& then);

}  // namespace hpcsched
