#include "rules/announced_outages.hpp"

#include <algorithm>

#include "core/estimated_ends.hpp"
#include "core/fit_counts.hpp"
#include "core/shared_resources.hpp"

namespace hpcsched {

namespace {

/// Write the time up to which plans of this round consider outages.
void find_reach(State& state, int64_t last_end)
{
    const Outages& outages = state.outages;
    if (!outages.any_announced) return;
    int64_t longest = 0;
    for (int64_t k = 0; k < state.counters.queued; ++k)
        longest = std::max(longest, state.jobs[state.queue[k]].predicted);
    for (const int64_t row : state.started.first(state.counters.started))
        longest = std::max(longest, state.jobs[row].predicted);
    // No job waits longer for outages than up to the end of those that it would reach now.
    for (int64_t k = 0; k < outages.start.size() && outages.start[k] < state.now() + longest; ++k)
        last_end = std::max(last_end, outages.end[k]);
    state.counters.reach = last_end + longest;
}

/// Set the free amounts to 0 on nodes that an outage takes from a head job that starts at `time`.
void close_for(const State& state, int64_t head, int64_t time, NodeRuns& then)
{
    const Outages& outages = state.outages;
    if (!outages.any_announced) return;
    const int64_t until = std::min(state.counters.reach, time + state.jobs[head].predicted);
    for (int64_t k = 0; k < outages.start.size() && outages.start[k] < until; ++k) {
        if (outages.end[k] <= time) continue;
        for_each_stretch(outages.nodes_of(k), [&](int64_t first, int64_t end) {
            then.for_each(first, end, [&](int64_t run) { std::ranges::fill(then.free(run), 0); });
        });
    }
}

/// Write the free amounts for a head job that starts at `time`; return the units that fit. Nodes
/// that an announced outage takes from the job have none.
int64_t free_for(State& state, int64_t head, int64_t time, NodeRuns& then)
{
    then = runs_in_service(state);
    for (const int64_t row : RunningByEnd(state)) {
        const Job& job = state.jobs[row];
        if (job.shown_end > time) break;
        for_each_span(state, job.cell, [&](const Span& span) {
            then.for_each(span.first, span.end, [&](int64_t run) {
                take_from_run(state, then, run, span.on_node(), job.shape, -1);
            });
        });
    }
    close_for(state, head, time, then);
    int64_t total = 0;
    for (int64_t run = 0; run < then.count(); ++run)
        total += then.nodes(run) * units_on_run(state, then, run, state.jobs[head].later);
    return total;
}

/// Return the earliest start of a head job on nodes that stay in service for it, from `time` on.
/// Once all relevant outages are over, the full capacity is there.
int64_t first_in_service(State& state, int64_t head, int64_t time, NodeRuns& then)
{
    const Outages& outages = state.outages;
    if (!any_ahead(state)) return time;
    int64_t later = time;
    while (free_for(state, head, later, then) < state.jobs[head].units) {
        int64_t next = never;
        for (const int64_t row : RunningByEnd(state)) {
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
    return state.now() < state.outages.end[k] && state.outages.start[k] < state.counters.reach;
}

bool any_ahead(const State& state)
{
    if (!state.outages.any_announced) return false;
    for (int64_t k = 0; k < state.outages.start.size(); ++k)
        if (is_ahead(state, k)) return true;
    return false;
}

NodeRuns runs_in_service(State& state)
{
    NodeRuns runs = runs_of(state);
    const Outages& outages = state.outages;
    std::vector<bool> is_opened(static_cast<size_t>(state.node_count()));
    bool any_opened = false;
    for (int64_t k = 0; k < outages.start.size() && outages.start[k] <= state.now(); ++k) {
        if (outages.end[k] <= state.now()) continue;
        any_opened = true;
        for_each_stretch(outages.nodes_of(k), [&](int64_t first, int64_t end) {
            runs.for_each(first, end, [&](int64_t run) {
                std::ranges::copy(state.node_capacity.row(runs.first(run)), runs.free(run).begin());
            });
            std::fill(is_opened.begin() + first, is_opened.begin() + end, true);
        });
    }
    if (!any_opened) return runs;
    for (int64_t node = 0; node < outages.failed.size(); ++node)
        if (outages.failed[node] != 0)
            runs.for_each(node, node + 1,
                          [&](int64_t run) { std::ranges::fill(runs.free(run), 0); });
    // On a real cluster jobs may run on reserved nodes.
    for (const int64_t row : RunningByEnd(state)) {
        const Job& job = state.jobs[row];
        for_each_span(state, job.cell, [&](const Span& span) {
            runs.for_each(span.first, span.end, [&](int64_t run) {
                if (is_opened[runs.first(run)])
                    take_from_run(state, runs, run, span.on_node(), job.shape, 1);
            });
        });
    }
    return runs;
}

int64_t last_running_end(State& state)
{
    const RunningByEnd ends(state);
    return ends.size() == 0 ? state.now() : state.jobs[ends[ends.size() - 1]].shown_end;
}

bool counts_units(State& state)
{
    return counts_units(state, last_running_end(state));
}

bool counts_units(State& state, int64_t last_end)
{
    const int64_t shape = state.jobs[state.queue[0]].shape;
    find_reach(state, last_end);
    return state.shapes.active.size() == 1 && !state.shapes.uncountable[shape] &&
           !state.shared.any && !any_ahead(state);
}

Shadow move_shadow(State& state, int64_t head, Shadow shadow, NodeRuns& then)
{
    const bool is_beside_outages = any_ahead(state);
    if (!state.shared.any && !is_beside_outages) return shadow;
    int64_t time = first_in_service(state, head, shadow.time, then);
    // Nodes and shared resources are asked in turn until neither moves the time any more.
    int64_t later = earliest_in_shared(state, head, time);
    while (later != never) {
        time = first_in_service(state, head, later, then);
        if (time == later) break;
        later = earliest_in_shared(state, head, time);
    }
    return {later, free_for(state, head, later, then) - state.jobs[head].units};
}

}  // namespace hpcsched
