#pragma once

#include "core/state.hpp"

namespace hpcsched {

/// Shared resources: their capacity over time, the draws of jobs, and free amounts in plans.
/// Where a system has none, all draws are nothing.

// Capacity over time.

/// Return the capacity of a shared resource at a time.
int64_t offered(const SharedResources& shared, int64_t p, int64_t time);

/// Return the first change of a capacity after a time; `never` if there is none.
int64_t next_offer(const SharedResources& shared, int64_t time);

/// Return the earlier of an event and the next change of capacity, if jobs wait. Once no other
/// event is left, changes matter until all capacities have been seen.
int64_t earlier_offer(State& state, int64_t event);

// Draws of running jobs.

/// Store the draw of job `k` of the batch that does not depend on its nodes.
void store_draw(State& state, int64_t k, int64_t row);

/// Add the draw of a job that starts (sign 1), or subtract that of one that ends (-1).
void switch_draw(State& state, int64_t row, int64_t sign);

/// Write the drawn amounts if jobs have started or ended.
void write_level(State& state);

/// Whether a pending job on the nodes in its cells draws more than is free now.
bool overdraws(const State& state, int64_t row);

// Plans of a round.

/// Write the free amounts from now on, given the ends of running jobs. A node that is on draws
/// until the last job on it ends.
void open_shared(State& state);

/// Whether a job has enough from a start to its predicted end.
bool shared_suffice(State& state, int64_t row, int64_t begin);

/// Return a shared resource that is short for a job from a start to its predicted end, at the last
/// such time; -1 if there is none.
int64_t short_resource(State& state, int64_t row, int64_t begin);

/// Return the earliest start of a job from `begin` on; `never` if there is none.
int64_t earliest_in_shared(State& state, int64_t row, int64_t begin);

/// Reserve a job's draw from a start to its predicted end (sign 1), or give it back (-1); nothing
/// for a start at `never`.
void reserve_shared(State& state, int64_t row, int64_t begin, int64_t sign);

/// Subtract the draw of a job that starts now with units on nodes.
void draw_for_start(State& state, int64_t row, const Placement& placed);

/// Whether a started job draws less than was reserved for it: it shares nodes with other jobs, or
/// is on fewer than it might have taken.
bool draws_less(const State& state, int64_t row);

/// Whether a head job has enough at its time if another job starts now.
bool leaves_shared_to(State& state, int64_t head, int64_t time, int64_t row);

}  // namespace hpcsched
