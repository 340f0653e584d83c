#include "rules/starts.hpp"

#include <algorithm>

#include "core/allocators.hpp"
#include "core/fit_counts.hpp"
#include "core/job_events.hpp"
#include "core/limits.hpp"
#include "core/places.hpp"
#include "core/shared_resources.hpp"

namespace hpcsched {

void compute_pressure(State& state)
{
    const View<const int64_t> totals = state.total_capacity;
    state.pressure.assign(static_cast<size_t>(totals.size()), 0.0);
    for (int64_t r = 0; r < totals.size(); ++r) {
        if (totals[r] == 0) continue;
        const int64_t wanted =
            state.waiting_amounts[r] - state.held_amounts[r] + state.running_amounts[r];
        state.pressure[r] = static_cast<double>(wanted) / static_cast<double>(totals[r]);
    }
}

bool is_full(const State& state)
{
    if (!state.by_node) return state.counters.free_slots == 0;
    return std::ranges::all_of(state.shapes.active, [&](int64_t shape) {
        return state.shapes.fitting[shape] == 0;
    });
}

int64_t first_that_fits(State& state, int64_t from)
{
    const int64_t count = state.counters.queued;
    // The usual round of a full system: nothing is free, whatever waits.
    if (is_full(state)) return count;
    const auto starts = [&](int64_t row) { return is_tried(state, row) && fits_now(state, row); };
    while (from < count && !starts(state.queue[from])) ++from;
    return from;
}

Placement choose_now(State& state, int64_t row)
{
    const Job& job = state.jobs[row];
    const NodeRuns& runs = runs_of(state);
    return place_on(state, row, state.choices.allocator, job.shape, runs,
                    units_on_runs(state, runs, job.shape), state.pressure);
}

void start_where_placed(State& state, int64_t row, const Placement& placed)
{
    draw_for_start(state, row, placed);
    begin(state, row, take_nodes(state, row, placed));
    remove_waiting(state, state.jobs[row].shape);
}

void start(State& state, int64_t row)
{
    if (state.by_node) {
        start_where_placed(state, row, choose_now(state, row));
        return;
    }
    const Job& job = state.jobs[row];
    const int64_t cell = take_lowest_slots(state, job.units);
    // Amounts are kept beside slots for the account of idle capacity.
    for (int64_t r = 0; r < state.free_amounts.size(); ++r)
        state.free_amounts[r] -= job.units * state.shapes.asked(job.shape, r);
    begin(state, row, cell);
}

int64_t start_in_order(State& state)
{
    const int64_t count = state.counters.queued;
    const Rule rule = state.choices.rule;
    bool chosen = rule == Rule::committed || rule == Rule::committed_backfill;
    int64_t place = 0;
    while (place < count) {
        const int64_t row = state.queue[place];
        const Job& job = state.jobs[row];
        if (is_tried(state, row) && (!chosen || job.promise != never)) {
            if (!fits_now(state, row)) return place;
            start(state, row);
        }
        ++place;
        if (chosen && place == count) {
            place = 0;
            chosen = false;
        }
    }
    return place;
}

void note_wait(State& state, int64_t row, int64_t other, bool within)
{
    Job& job = state.jobs[row];
    job.other = other;
    if (other != none)
        job.why = Reason::reserved_for;
    else
        job.why = within ? Reason::no_room : Reason::beyond_depth;
}

void note_shared_resource(State& state, int64_t row)
{
    if (!state.shared.any) return;
    Job& job = state.jobs[row];
    if (job.why != Reason::no_room || job.units > state.shapes.fitting[job.shape]) return;
    const int64_t found = short_resource(state, row, state.now());
    if (found == none) return;
    job.why = Reason::short_of_shared;
    job.other = found;
}

void note_shared_resources(State& state)
{
    if (!state.shared.any) return;
    for (int64_t k = 0; k < state.counters.queued; ++k)
        if (state.jobs[state.queue[k]].waits != 0) note_shared_resource(state, state.queue[k]);
}

}  // namespace hpcsched
