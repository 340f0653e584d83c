#include "replay/waiting_times.hpp"

#include <algorithm>

#include "core/fit_counts.hpp"
#include "core/job_events.hpp"
#include "core/places.hpp"
#include "replay/output.hpp"

namespace hpcsched {

namespace {

/// Order of a heap with the earliest time on top, then the job submitted first.
bool is_later(const Timer& one, const Timer& other)
{
    return std::pair(one.time, one.sequence) > std::pair(other.time, other.sequence);
}

void push_timer(State& state, int64_t time, int64_t row)
{
    state.timers.push_back({time, state.jobs[row].sequence, row});
    std::ranges::push_heap(state.timers, is_later);
}

void pop_timer(State& state)
{
    std::ranges::pop_heap(state.timers, is_later);
    state.timers.pop_back();
}

/// Whether the job of a timer still waits for its first start; others may have its row by now.
bool is_meant(const State& state, const Timer& timer)
{
    const Job& job = state.jobs[timer.row];
    return job.sequence == timer.sequence && job.waits != 0 && job.requeues == 0;
}

/// Whether the units that fit are counted for the request of a waiting job. Beside outages, the next
/// round may count anew.
bool is_counted(const State& state, const Job& job)
{
    const bool is_known = job.span >= 0 && !state.counters.stale;
    return state.by_node && job.held == 0 && (!state.outages.any || is_known);
}

/// Take a job out of the decision that is pending, and free the places that it was to have.
void drop_decided(State& state, int64_t row)
{
    Counters& counters = state.counters;
    const View<int64_t> decided = state.started.first(counters.decided);
    const auto found = std::ranges::find(decided, row);
    if (found != decided.end()) {
        const int64_t cell = state.jobs[row].cell;
        if (state.by_node)
            drop_cells(state, cell);
        else
            give_slots_back(state, cell);
        std::copy(found + 1, decided.end(), found);
        --counters.decided;
    }
    std::erase(state.flight.dismissed, row);
}

void withdraw(State& state, int64_t row)
{
    Counters& counters = state.counters;
    Job& job = state.jobs[row];
    if (counters.flying) drop_decided(state, row);
    if (is_counted(state, job)) remove_waiting(state, job.shape);
    set_held(state, row, job.held, false);
    drop_from_queue(state, row);
    // Rules that keep reservations find that this one is gone.
    if (job.reserved != never) counters.freed_until = never;
    counters.withdrew = true;
    write_withdrawn(state, row);
    forget(state, row);
}

}  // namespace

void note_waiting_times(State& state, int64_t k, int64_t row)
{
    const Table<int64_t>& times = state.batch->waiting_times;
    if (times.columns() == 0) return;
    const int64_t begin = times(k, 0), leave = times(k, 1);
    if (begin > state.now()) {
        if (is_counted(state, state.jobs[row])) remove_waiting(state, state.jobs[row].shape);
        set_held(state, row, held_by_begin, true);
        push_timer(state, begin, row);
    }
    state.jobs[row].leave = leave;
    if (leave != never) push_timer(state, leave, row);
}

int64_t earlier_timer(State& state, int64_t event)
{
    while (!state.timers.empty() && !is_meant(state, state.timers.front())) pop_timer(state);
    return state.timers.empty() ? event : std::min(event, state.timers.front().time);
}

void pass_timers(State& state)
{
    while (earlier_timer(state, never) <= state.now()) {
        const int64_t row = state.timers.front().row;
        pop_timer(state);
        const Job& job = state.jobs[row];
        if (job.leave <= state.now()) {
            withdraw(state, row);
        } else {
            set_held(state, row, held_by_begin, false);
            if (is_counted(state, job)) add_waiting(state, job.shape);
        }
    }
}

}  // namespace hpcsched
