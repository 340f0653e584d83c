#include "replay/outages.hpp"

#include <algorithm>
#include <set>

#include "core/job_events.hpp"
#include "replay/output.hpp"

namespace hpcsched {

namespace {

/// Whether a node of a running job is out of service.
bool loses_node(const State& state, int64_t row)
{
    for (int64_t cell = state.jobs[row].cell; cell != none; cell = state.cells[cell].next)
        if (state.outages.down[state.cells[cell].node] != 0) return true;
    return false;
}

/// Set the free amounts of nodes that go out of service to 0, of returning nodes to full.
void close_nodes(State& state)
{
    Outages& outages = state.outages;
    for (int64_t node = 0; node < outages.down.size(); ++node) {
        const bool is_down = outages.down[node] > 0;
        if (outages.closed[node] == is_down) continue;
        outages.closed[node] = is_down;
        state.nodes.are_current = false;
        state.counters.closed += is_down ? 1 : -1;
        if (state.scores) state.scores->touch(node);
        for (int64_t r = 0; r < state.column_count(); ++r) {
            const int64_t free = is_down ? 0 : state.node_capacity(node, r);
            if (r < state.type_count())
                state.free_amounts[r] += free - state.available(r, node);
            state.available(r, node) = free;
        }
    }
}

/// Count the failures of nodes that are out of service.
void count_failures(State& state)
{
    Outages& outages = state.outages;
    outages.failed = outages.down;
    for (int64_t k = 0; k < outages.start.size() && outages.start[k] <= state.now(); ++k)
        if (outages.end[k] > state.now())
            for (const int64_t node : outages.nodes_of(k)) --outages.failed[node];
    outages.any_failed = std::ranges::any_of(outages.failed, [](int64_t count) { return count; });
}

/// Write the next announced outage of each node, and the sorted distinct times of these.
void find_limits(State& state)
{
    Outages& outages = state.outages;
    const View<int64_t> clear_until = outages.clear_until;
    const int64_t now = state.now();
    // Nothing changes between two announced outages, and this is called in each round.
    if (std::all_of(clear_until.begin(), clear_until.end(),
                    [now](int64_t time) { return time > now; }))
        return;
    std::fill(clear_until.begin(), clear_until.end(), never);
    for (int64_t k = 0; k < outages.start.size(); ++k)
        if (outages.start[k] > now)
            for (const int64_t node : outages.nodes_of(k))
                clear_until[node] = std::min(clear_until[node], outages.start[k]);
    const std::set<int64_t> distinct(clear_until.begin(), clear_until.end());
    outages.limits.clear();
    for (const int64_t time : distinct) outages.limits.add(time);
}

}  // namespace

int64_t earlier_change(const State& state, int64_t event)
{
    if (!state.outages.any) return event;
    const Counters& counters = state.counters;
    const View<const int64_t> change_time = state.outages.change_time;
    if (counters.change < change_time.size() && (counters.queued != 0 || event < never))
        return std::min(event, change_time[counters.change]);
    return event;
}

void pass_outages(State& state)
{
    Outages& outages = state.outages;
    if (!outages.any) return;
    Counters& counters = state.counters;
    while (counters.change < outages.change_time.size() &&
           outages.change_time[counters.change] <= counters.now) {
        const int64_t k = counters.change++;
        for (int64_t i = outages.change_first[k]; i < outages.change_first[k + 1]; ++i)
            outages.down[outages.change_nodes[i]] += outages.change_sign[k];
        counters.altered = true;
    }
    if (!counters.altered) return;
    for (int64_t k = 0; k < counters.running;) {
        const int64_t row = state.running[k];
        // Running rows move up where one is taken out, so `k` stays then.
        if (!loses_node(state, row)) {
            ++k;
            continue;
        }
        if (state.jobs[row].suspended_since == none) state.jobs[row].preemptor = none;
        end_attempt(state, row, outages.requeue ? Left::requeued : Left::failed);
        if (outages.requeue) put_back(state, row);
    }
    close_nodes(state);
    count_failures(state);
    find_limits(state);
    counters.altered = false;
    counters.stale = true;
}

}  // namespace hpcsched
