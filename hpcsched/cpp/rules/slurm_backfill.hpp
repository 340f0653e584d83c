#pragma once

#include "core/state.hpp"

namespace hpcsched {

/// Hold a round of Slurm's main scheduler and, at least `interval` after the last one, of its plugin
/// sched/backfill; see `make_slurm_backfill`.
void hold_slurm_round(State& state, bool explains);

}  // namespace hpcsched
