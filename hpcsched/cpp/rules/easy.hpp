#pragma once

#include "core/state.hpp"

namespace hpcsched {

/// EASY backfilling behind a head job, which has a reservation at its shadow time, and the rules
/// that vary it: `relaxed` and `committed_backfill`.
///
/// `at` is the position of the head job in the queue, `next` that of the first job behind it that fits
/// by itself.

/// Backfill where slots are counted. Jobs that run past the shadow time use the spare slots of that
/// time; beside a chosen job, none may.
void easy_by_count(State& state, int64_t at, int64_t next);

/// Backfill node by node. The head job's nodes are not fixed: a job that runs past the shadow time
/// is started if enough of the head job's units still fit beside it then, on the nodes of the
/// allocator's choice or on those where it costs the head job little.
void easy_on_nodes(State& state, int64_t at, int64_t next);

}  // namespace hpcsched
