#pragma once

#include "core/profile.hpp"
#include "core/state.hpp"

namespace hpcsched {

/// The plan of a round where jobs request unequal units: a profile of each node.

/// Return the free amounts on each node from now on, given the ends of running jobs and announced
/// outages.
Profile open_profile(State& state);

/// Whether a job fits from now to its predicted end.
bool fits_in_profile(const State& state, int64_t row, const Profile& profile);

/// Take the capacity of a job that starts now, on nodes of the allocator's choice; return these.
Placement start_in_profile(State& state, int64_t row, Profile& profile);

/// Take the capacity of a job's units on nodes for a time (sign 1), or give it back (-1).
void take_placed(const State& state, int64_t row, const Placement& placed, int64_t begin,
                 int64_t end, int64_t sign, Profile& profile);

/// Return the earliest start from `release` to `latest` with enough nodes and shared resources;
/// `never` if there is none.
int64_t earliest_beside_shared(State& state, int64_t row, int64_t release, int64_t latest,
                               const Profile& profile);

/// Reserve room for a job from `begin` to its predicted end; return where, nowhere if it does not
/// fit. A reservation need not be on nodes of the allocator's choice, so nodes are ranked as by
/// `keep_scarce` outside of a round.
Placement place_reservation(State& state, int64_t row, int64_t begin, Profile& profile);

/// Whether a job has one unit, without devices.
inline bool is_single(const State& state, int64_t row)
{
    const Job& job = state.jobs[row];
    return job.units == 1 && state.shapes.request(job.later).devices == nullptr;
}

/// Reserve room for such a job at the earliest start up to `latest`.
Profile::OneUnit reserve_unit(const State& state, int64_t row, int64_t release, int64_t latest,
                              Profile& profile);

}  // namespace hpcsched
