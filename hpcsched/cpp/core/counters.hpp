#pragma once

#include "core/codes.hpp"
#include "core/views.hpp"

namespace hpcsched {

/// Single numbers of a replay.
struct Counters {
    int64_t now = 0;
    Phase phase = Phase::next_instant;
    int64_t round = 0;
    int64_t next = 0;  // job of the batch
    int64_t foreseen = 0;  // from here on jobs of the batch have no prediction yet
    int64_t submitted = 0;
    int64_t queued = 0;
    int64_t running = 0;
    int64_t held_back = 0;
    int64_t started = 0;
    int64_t free_row = none;  // lists of unused rows and cells
    int64_t free_cell = none;
    int64_t free_slots = 0;
    int64_t intervals = 0;
    int64_t requests = 0;  // number of shapes as submitted; narrowed ones follow
    int64_t change = 0;  // next begin or end of an outage
    int64_t closed = 0;
    int64_t reach = 0;  // time up to which plans of a round consider outages
    int64_t release = never;  // when the jobs that are held back change even without an event
    int64_t freed_until = 0;  // latest predicted end of jobs that have ended since the last round
    int64_t first_made = none;  // rows of the first and the last reservation of a round
    int64_t last_made = none;
    int64_t asked = 0;  // when a pending decision was requested, and for how many jobs
    int64_t asked_queued = 0;
    int64_t asked_running = 0;
    int64_t asked_shown = 0;
    int64_t decided = 0;
    int64_t due = 0;
    int64_t last_event = 0;  // other than a change of a shared resource's capacity
    int64_t starting = 0;  // queued jobs that a plan starts now
    int64_t planned = 0;
    int64_t last_asked = 0;
    int64_t call_again = never;
    int64_t last_backfill = none;  // last round of Slurm's backfill scheduler
    bool seen = true;  // whether observers were told of the present instant
    bool ended_any = false;
    bool altered = false;  // while jobs may run on nodes out of service
    bool stale = false;  // when the eligible nodes of jobs must be computed again
    bool changed = false;  // when the set of jobs that are held back must be computed again
    bool flying = false;  // while a decision is pending
    bool flying_changed = false;
    bool withdrew = false;  // since the last round
    bool moved = false;  // when jobs have started or ceased to draw
};

}  // namespace hpcsched
