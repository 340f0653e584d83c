#pragma once

#include "core/shared_resources.hpp"
#include "core/state.hpp"

namespace hpcsched {

/// Starts of jobs: fit check, placement by the allocator, and allocation.

/// Compute the pressure on each resource type: requested plus allocated share.
void compute_pressure(State& state);

/// Whether nodes or slots, and shared resources, suffice for a job now.
inline bool fits_now(State& state, int64_t row)
{
    const Job& job = state.jobs[row];
    if (!state.by_node) return job.units <= state.counters.free_slots;
    return job.units <= state.shapes.fitting[job.shape] &&
           (!state.shared.any || shared_suffice(state, row, state.now()));
}

/// Whether not even a unit of any waiting job fits.
bool is_full(const State& state);

/// Return the first place in the queue, from one on, of a job that fits by itself; the number of
/// jobs if none does.
int64_t first_that_fits(State& state, int64_t from);

/// Return the allocator's placement of a job now.
Placement choose_now(State& state, int64_t row);

/// Start a job on given nodes.
void start_where_placed(State& state, int64_t row, const Placement& placed);

/// Start a job on nodes of the allocator's choice; where slots are counted, on free slots.
void start(State& state, int64_t row);

/// Start the first jobs of the queue, up to one that does not fit; return its place. Jobs chosen in
/// earlier rounds come first.
int64_t start_in_order(State& state);

/// Note why a job waits: for the job of the row `other`, or for room (-1); whether the limit on
/// reservations is not reached.
void note_wait(State& state, int64_t row, int64_t other, bool within);

/// Note that a job waits for a shared resource, if nodes have room for it.
void note_shared_resource(State& state, int64_t row);

/// Note the jobs that wait for a shared resource after all starts.
void note_shared_resources(State& state);

}  // namespace hpcsched
