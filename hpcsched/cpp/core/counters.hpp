#pragma once

#include "core/codes.hpp"

namespace hpcsched {

/// Single numbers of a replay, in the order of the counters of hpcsched/dispatching/core/codes.py,
/// which says what they are.
struct Counters {
    int64_t now;
    Phase phase;
    int64_t round;
    int64_t next;  // job of the batch
    int64_t submitted;
    int64_t queued;
    int64_t running;
    int64_t free_row;
    int64_t free_cell;
    int64_t cells_free;
    int64_t cell_demand;  // maximum number of cells that queued jobs need
    int64_t most_cells;
    int64_t free_slots;
    int64_t intervals;
    int64_t active_shapes;
    int64_t started;
    int64_t out_jobs;
    int64_t out_places;
    int64_t out_rounds;
    int64_t ended_any;
    int64_t foreseen;  // from here on jobs of the batch have no prediction yet
    int64_t held_back;
    int64_t requests;
    int64_t shapes;  // those of requests and the narrowed ones
    int64_t change;  // next begin or end of an outage
    int64_t closed;
    int64_t limits;
    int64_t altered;  // 1 while jobs may run on nodes out of service
    int64_t stale;  // 1 when the eligible nodes of jobs must be computed again
    int64_t reach;  // time up to which plans of a round consider outages
    int64_t changed;  // 1 when the set of jobs that are held back must be computed again
    int64_t release;  // time at which it must be even without an event
    int64_t turned;
    int64_t out_events;
    int64_t out_start_places;
    int64_t freed_until;  // latest predicted end of jobs that have ended since the last round
    int64_t first_made;  // rows of the first and the last reservation of a round
    int64_t last_made;
    int64_t asked;  // when a pending decision was requested, and for how many jobs
    int64_t asked_queued;
    int64_t asked_running;
    int64_t asked_shown;
    int64_t decided;
    int64_t due;
    int64_t flying;  // 1 while a decision is pending
    int64_t flying_changed;
    int64_t last_event;  // other than a change of a shared resource's capacity
    int64_t moved;  // 1 when jobs have started or ceased to draw
    int64_t out_levels;
    int64_t starting;  // queued jobs that a plan starts now
    int64_t planned;
    int64_t last_asked;
    int64_t ordered;
    int64_t answered;
    int64_t dismissed;
    int64_t paused_at;
    int64_t call_again;
};
constexpr int64_t counter_count = 57;
static_assert(sizeof(Counters) == counter_count * sizeof(int64_t));

}  // namespace hpcsched
