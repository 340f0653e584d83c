#pragma once

#include "core/state.hpp"
#include "rules/round_plan.hpp"

namespace hpcsched {

/// Reservations that outlast a round: made, restored, cancelled and turned into starts. Their
/// starts and nodes are carried from round to round in the table of jobs.

/// Take a job's reservation from the plan (sign 1), or give it back (-1).
void take_reserved(State& state, RoundPlan& plan, int64_t row, int64_t sign);

/// Take the reservations of all jobs from shared resources (sign 1), or give them back (-1).
void keep_of_shared(State& state, int64_t sign);

/// Delete the reserved nodes of a job.
void drop_places(State& state, int64_t row);

/// Put a node and the units on it before the reserved nodes of a job.
void note_place(State& state, int64_t row, int64_t node, Held units);

/// Reserve room for a job at the earliest time from `release` on. `latest` is a time at which it is
/// known to fit, or `never`. Returns the start; `never`, without a reservation, if shared resources
/// or nodes never suffice.
int64_t reserve(State& state, RoundPlan& plan, int64_t row, int64_t release, int64_t latest);

/// Reserve room for a job from `begin` to its predicted end, if it fits; nothing at `never`. The
/// nodes noted for the job are used if they have room, otherwise any nodes.
bool hold(State& state, RoundPlan& plan, int64_t row, int64_t begin);

/// Cancel a job's reservation and return its start, `never` without one. Its nodes stay noted, so
/// that it can be restored.
int64_t cancel(State& state, RoundPlan& plan, int64_t row);

/// Whether a job that fits now fits until its predicted end, beside all reservations.
bool fits_beside(State& state, const RoundPlan& plan, int64_t row);

/// Start a job without a reservation now, if it respects all reservations; whether it has started.
bool start_beside(State& state, RoundPlan& plan, int64_t row);

}  // namespace hpcsched
