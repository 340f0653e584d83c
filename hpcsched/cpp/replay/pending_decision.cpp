#include "replay/pending_decision.hpp"

#include <algorithm>

#include "core/fit_counts.hpp"
#include "core/job_events.hpp"
#include "core/limits.hpp"
#include "core/places.hpp"
#include "core/shared_resources.hpp"
#include "replay/output.hpp"

namespace hpcsched {

namespace {

/// Record the time of a decision request and the numbers of jobs at that time.
void note_asking(Counters& counters, int64_t queued, int64_t running, int64_t shown)
{
    counters.asked = counters.due = counters.now;
    counters.asked_queued = queued;
    counters.asked_running = running;
    counters.asked_shown = shown;
}

/// Mark a decision as pending until it is due.
void take_off(State& state)
{
    state.counters.phase = Phase::flight;
    state.counters.flying = true;
    state.counters.flying_changed = false;
    std::fill(state.flight.lost.begin(), state.flight.lost.end(), 0);
}

/// Mark the places of a job as taken (sign 1) or as free (-1). Slots stay out of the intervals of
/// free ones: nothing else starts until the decision is due.
void change_room(State& state, const Job& job, int64_t sign)
{
    if (!state.by_node) {
        for (int64_t r = 0; r < state.free_amounts.size(); ++r)
            state.free_amounts[r] -= sign * job.units * state.shapes.asked(job.shape, r);
        return;
    }
    change_places(state, job.cell, job.shape, sign);
}

void add_to_waiting(State& state, const Job& job, int64_t sign)
{
    for (int64_t r = 0; r < state.waiting_amounts.size(); ++r)
        state.waiting_amounts[r] += sign * job.units * state.shapes.asked(job.shape, r);
}

/// Update the fit counts for a job that waits on; beside outages, the next round does.
void wait_on(State& state, Job& job)
{
    if (!state.outages.any) {
        add_waiting(state, job.shape);
        return;
    }
    job.shape = job.request;
    job.span = none;
}

/// Whether a node of a job to start is out of service, or will be before its end.
bool is_shut_out(const State& state, const Job& job)
{
    if (!state.outages.any) return false;
    for (int64_t cell = job.cell; cell != none; cell = state.cells[cell].next) {
        const int64_t node = state.cells[cell].node;
        if (state.outages.down[node] != 0 ||
            state.outages.clear_until[node] < state.now() + job.predicted)
            return true;
    }
    return false;
}

/// Take the jobs that Python rejects out of the amounts that wait; return whether any.
bool dismiss_all(State& state)
{
    for (const int64_t row : state.flight.dismissed) {
        Job& job = state.jobs[row];
        job.waits = 0;
        add_to_waiting(state, job, -1);
    }
    return !state.flight.dismissed.empty();
}

}  // namespace

void take_back(State& state, int64_t queued, int64_t running)
{
    Counters& counters = state.counters;
    note_asking(counters, queued, running, counters.queued);
    counters.decided = counters.started;
    for (int64_t k = 0; k < counters.decided; ++k) {
        const int64_t row = state.started[k];
        Job& job = state.jobs[row];
        // `stop_running` finds the row by its planned end, which must be that of the start.
        drop_end(state, row);
        stop_running(state, row);
        job.waits = 1;
        add_to_waiting(state, job, 1);
        change_room(state, job, -1);
        // Rules take it to have started.
        job.promise = job.reserved = never;
        if (state.by_node) wait_on(state, job);
    }
    counters.started = 0;
    leave_queue(state);
    take_off(state);
}

bool take_answer(State& state)
{
    Counters& counters = state.counters;
    ++counters.round;
    counters.ended_any = false;
    note_asking(counters, counters.queued, counters.running, counters.queued - counters.held_back);
    if (!state.manner.takes_time) return true;
    take_off(state);
    for (int64_t k = 0; k < counters.decided; ++k) {
        Job& job = state.jobs[state.started[k]];
        job.shape = job.request;
        job.span = none;
    }
    return false;
}

bool fly(State& state, int64_t event)
{
    if (!state.manner.takes_time) return false;
    Counters& counters = state.counters;
    const int64_t now = std::min(event, counters.due);
    for (int64_t r = 0; r < state.flight.lost.size(); ++r) {
        const int64_t idle = std::min(state.waiting_amounts[r], state.free_amounts[r]);
        state.flight.lost[r] += idle * (now - counters.now);
    }
    counters.now = now;
    counters.seen = false;
    if (event > now) return false;
    counters.flying_changed = true;
    return true;
}

void carry_out(State& state)
{
    Counters& counters = state.counters;
    counters.started = 0;
    hold_back(state);
    // `begin` writes `started` at or before place k, so that it can be read meanwhile.
    for (int64_t k = 0; k < counters.decided; ++k) {
        const int64_t row = state.started[k];
        Job& job = state.jobs[row];
        if (is_shut_out(state, job) || overdraws(state, row)) {
            drop_cells(state, job.cell);
            job.cell = none;
            // Rules that keep reservations find that it runs no more.
            counters.freed_until = std::max(counters.freed_until, counters.asked + job.predicted);
            continue;
        }
        change_room(state, job, 1);
        begin(state, row, job.cell);
        if (state.by_node && !state.outages.any) remove_waiting(state, job.shape);
    }
    const bool dismisses = dismiss_all(state);
    if (counters.started != 0 || counters.held_back != 0 || dismisses) {
        leave_queue(state);
        counters.queued -= static_cast<int64_t>(state.flight.dismissed.size());
    }
    counters.flying = false;
}

void reject_used_up(State& state)
{
    Counters& counters = state.counters;
    if (counters.queued == 0 || !wait_for_used_up(state)) return;
    const View<const int64_t> queue = state.queue.first(counters.queued);
    state.flight.dismissed.assign(queue.begin(), queue.end());
    counters.queued = counters.held_back = 0;
    write_dismissed(state, RejectedBy::used_up_limit);
}

}  // namespace hpcsched
