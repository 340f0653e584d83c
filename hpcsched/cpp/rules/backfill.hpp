#pragma once

#include "core/state.hpp"

namespace hpcsched {

/// List scheduling with a reservation for each job that has to wait: start or reserve, job by job,
/// from place `at` in the queue on. It ends after the last job that could start now or, where
/// reasons are requested, at the end of the queue. `counted`: see `counts_units`. `candidates` are the
/// places of the jobs that fit by themselves, ascending.

void hold_backfill(State& state, int64_t at, bool counted, bool explains);

/// By count of units; see `RoundPlan`.
void backfill_by_count(State& state, int64_t at, Numbers candidates, bool explains);

/// Where jobs request unequal units.
void backfill_on_nodes(State& state, int64_t at, Numbers candidates, bool explains);

}  // namespace hpcsched
