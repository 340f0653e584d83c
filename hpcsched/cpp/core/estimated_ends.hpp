#pragma once

#include "core/state.hpp"

namespace hpcsched {

/// Return the end, after now, of a job that has outlived its prediction.
int64_t corrected_end(const Job& job, int64_t now, Correction correction);

/// Return the running rows that have outlived their prediction and all corrections.
Numbers outlived(const State& state);

/// Return the running rows by the end that rules see. Jobs that have outlived their prediction get
/// a corrected one.
Numbers running_by_shown_end(State& state);

}  // namespace hpcsched
