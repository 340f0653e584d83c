#include "rules/filling.hpp"

#include "core/fit_counts.hpp"
#include "core/shared_resources.hpp"
#include "rules/announced_outages.hpp"
#include "rules/reservations.hpp"
#include "rules/starts.hpp"

namespace hpcsched {

namespace {

/// Return the nodes noted for a job, and delete the note.
Placement take_up_places(State& state, int64_t row)
{
    Placement placed;
    for_each_span(state, state.jobs[row].cell, [&](const Span& span) { placed.push_back(span); });
    drop_places(state, row);
    return sum_of(placed);
}

}  // namespace

void fill_beside_plan(State& state)
{
    const Counters& counters = state.counters;
    const View<int64_t> queue = state.queue;
    open_shared(state);
    compute_pressure(state);
    const bool counted = counts_units(state);
    for (int64_t k = 0; k < counters.starting; ++k) {
        if (state.by_node)
            start_where_placed(state, queue[k], take_up_places(state, queue[k]));
        else
            start(state, queue[k]);
    }
    int64_t at = counters.planned;
    while (at < counters.queued && !fits_now(state, queue[at])) ++at;
    // No job fits beside the plan: reservations for it would be made for nothing.
    if (at == counters.queued) return;
    state.counters.first_made = state.counters.last_made = none;
    RoundPlan plan = open_plan(state, counted);
    // Later planned starts are kept, or come as soon as they fit: plans on aggregated nodes may
    // start jobs before there is room for them.
    for (int64_t k = counters.starting; k < counters.planned; ++k) {
        const int64_t begin = state.jobs[queue[k]].reserved;
        if (!hold(state, plan, queue[k], begin)) reserve(state, plan, queue[k], begin, never);
    }
    for (; at < counters.queued; ++at) start_beside(state, plan, queue[at]);
}

}  // namespace hpcsched
