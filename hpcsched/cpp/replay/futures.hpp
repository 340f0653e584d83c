#pragma once

#include <functional>
#include <memory>

#include "core/state.hpp"

namespace hpcsched {

/// Futures of a replay: continuations with other run times and other later jobs.
struct Futures {
    View<const int64_t> rows;  // present jobs, [J]
    Matrix<const int64_t> run_times;  // of each in each future, [F, J]
    View<const int64_t> wanted;  // places among all submitted, ascending, [W]

    /// Batch k of the jobs that are submitted later in a future. One thread at a time calls these.
    std::function<std::shared_ptr<Batch>(int64_t future, int64_t k)> later;
    std::function<void(int64_t count)> ended;  // called with the number of futures so far
};

/// Set the run times of jobs; running ones end later than now.
void set_run_times(State& state, View<const int64_t> rows, View<const int64_t> run_times);

/// Return the start times of the wanted jobs, `[F, W]`; -1 of jobs that do not start. Each future
/// ends when all have started. No part of the replay may be Python's.
Table<int64_t> future_starts(const State& state, const Futures& futures, int64_t threads);

}  // namespace hpcsched
