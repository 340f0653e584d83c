#pragma once

#include "core/views.hpp"

namespace hpcsched {

/// Write the starts of list scheduling on-line where all jobs ask for equal units: in each round
/// every waiting job is planned anew, and those start that can start now. It is `list` with the
/// option `backfill` and no limit on depth, for an order that does not change with time. Jobs are
/// numbered in order of submission; `rank` is the place of each in the queue order.
void replay_list(View<const int64_t> rank, View<const int64_t> submit,
                 View<const int64_t> demands, View<const int64_t> run_times, int64_t capacity,
                 View<int64_t> starts);

}  // namespace hpcsched
