#include "rules/announced_outages.hpp"

#include <algorithm>

#include "core/estimated_ends.hpp"
#include "core/fit_counts.hpp"
#include "core/shared_resources.hpp"

namespace hpcsched {

namespace {

/// Write the time up to which plans of this round consider outages.
void find_reach(State& state)
{
    if (!state.outages.any_announced) return;
    const Numbers ends = running_by_shown_end(state);
    const int64_t last = ends.empty() ? state.now() : state.jobs[ends.back()].shown_end;
    int64_t longest = 0;
    for (int64_t k = 0; k < state.counters.queued; ++k)
        longest = std::max(longest, state.jobs[state.queue[k]].predicted);
    state.counters.reach = last + longest;
}

/// Set the free amounts to 0 on nodes that an outage takes from a head job that starts at `time`.
void close_for(const State& state, int64_t head, int64_t time, Matrix<int64_t> then)
{
    const Outages& outages = state.outages;
    if (!outages.any_announced) return;
    const int64_t until = std::min(state.counters.reach, time + state.jobs[head].predicted);
    for (int64_t k = 0; k < outages.start.size(); ++k) {
        if (!(state.now() < outages.start[k] && outages.start[k] < until)) continue;
        if (outages.end[k] <= time) continue;
        for (const int64_t node : outages.nodes_of(k))
            for (int64_t r = 0; r < then.rows(); ++r) then(r, node) = 0;
    }
}

/// Write the free capacity for a head job that starts at `time`: free amounts, `[R, N]`, and units
/// that fit, `[N]`; return their sum. Nodes that an announced outage takes from the job have none.
int64_t free_for(State& state, int64_t head, int64_t time, Matrix<int64_t> then,
                 View<int64_t> head_fits)
{
    std::copy_n(state.available.data(), then.rows() * then.columns(), then.data());
    for (const int64_t row : running_by_shown_end(state)) {
        const Job& job = state.jobs[row];
        if (job.shown_end > time) break;
        for (int64_t cell = job.cell; cell != none; cell = state.cells[cell].next)
            take_from(state, state.cells[cell].node, state.cells[cell].units, job.shape, -1, then);
    }
    close_for(state, head, time, then);
    int64_t total = 0;
    for (int64_t node = 0; node < head_fits.size(); ++node)
        total += head_fits[node] = units_on_node(state, node, state.jobs[head].shape, then);
    return total;
}

/// Return the earliest start of a head job on nodes that stay in service for it, from `time` on.
/// Once all relevant outages are over, the full capacity is there.
int64_t first_in_service(State& state, int64_t head, int64_t time, Matrix<int64_t> then,
                         View<int64_t> head_fits)
{
    const Outages& outages = state.outages;
    if (!any_ahead(state)) return time;
    int64_t later = time;
    while (free_for(state, head, later, then, head_fits) < state.jobs[head].units) {
        int64_t next = never;
        for (const int64_t row : running_by_shown_end(state)) {
            if (state.jobs[row].shown_end > later) {
                next = state.jobs[row].shown_end;
                break;
            }
        }
        for (int64_t k = 0; k < outages.start.size(); ++k)
            if (is_ahead(state, k) && outages.end[k] > later) next = std::min(next, outages.end[k]);
        // Neither a job nor an outage ends any more: there is no later time to try.
        if (next == never) return time;
        later = next;
    }
    return later;
}

}  // namespace

bool is_ahead(const State& state, int64_t k)
{
    const int64_t start = state.outages.start[k];
    return state.now() < start && start < state.counters.reach;
}

bool any_ahead(const State& state)
{
    if (!state.outages.any_announced) return false;
    for (int64_t k = 0; k < state.outages.start.size(); ++k)
        if (is_ahead(state, k)) return true;
    return false;
}

bool counts_units(State& state)
{
    const int64_t shape = state.jobs[state.queue[0]].shape;
    find_reach(state);
    return state.shapes.active.size() == 1 && !state.shapes.uncountable[shape] &&
           !state.shared.any && !any_ahead(state);
}

Shadow move_shadow(State& state, int64_t head, Shadow shadow, Matrix<int64_t> then,
                   View<int64_t> head_fits)
{
    const bool is_beside_outages = any_ahead(state);
    if (!state.shared.any && !is_beside_outages) return shadow;
    int64_t time = first_in_service(state, head, shadow.time, then, head_fits);
    // Nodes and shared resources are asked in turn until neither moves the time any more.
    int64_t later = earliest_in_shared(state, head, time);
    while (later != never) {
        time = first_in_service(state, head, later, then, head_fits);
        if (time == later) break;
        later = earliest_in_shared(state, head, time);
    }
    return {later, free_for(state, head, later, then, head_fits) - state.jobs[head].units};
}

}  // namespace hpcsched
