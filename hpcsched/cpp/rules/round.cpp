#include "rules/round.hpp"

#include "core/queue_order.hpp"
#include "core/shared_resources.hpp"
#include "rules/announced_outages.hpp"
#include "rules/backfill.hpp"
#include "rules/conservative.hpp"
#include "rules/easy.hpp"
#include "rules/starts.hpp"

namespace hpcsched {

namespace {

/// Drop candidates up to a place, and those that fit no more, from the end on.
void drop_past(State& state, Numbers& candidates, int64_t at)
{
    while (!candidates.empty() &&
           (candidates.back() <= at || !fits_now(state, state.queue[candidates.back()])))
        candidates.pop_back();
}

void note_all_behind(State& state, int64_t at)
{
    for (int64_t k = at + 1; k < state.counters.queued; ++k) {
        state.jobs[state.queue[k]].why = Reason::behind;
        state.jobs[state.queue[k]].other = state.queue[at];
    }
}

void start_all_that_fit(State& state, int64_t at)
{
    for (int64_t k = at + 1; k < state.counters.queued; ++k)
        if (fits_now(state, state.queue[k])) start(state, state.queue[k]);
}

/// Hold a round of a rule without reservations from earlier rounds.
void plan_anew(State& state, bool explains)
{
    const Choices& choices = state.choices;
    const int64_t count = state.counters.queued;
    if (count == 0) return;
    open_shared(state);
    Numbers candidates = find_candidates(state);
    // A promise is made in each round, or it would depend on what else waits.
    const bool goes_on = explains || promises(choices.rule);
    if (candidates.empty() && !goes_on) return;
    if (queue_of(state).sort_by_wait(count, state.now())) candidates = find_candidates(state);
    if (choices.own_backfill_order) backfill_queue_of(state).sort_by_wait(count, state.now());
    compute_pressure(state);
    const bool counted = counts_units(state);
    const int64_t at = start_in_order(state);
    drop_past(state, candidates, at);
    if (at == count || (candidates.empty() && !goes_on)) return;
    const int64_t last = candidates.empty() ? at : candidates.back();
    switch (choices.rule) {
        case Rule::backfill:
            if (!state.by_node || counted)
                backfill_by_count(state, at, std::move(candidates), explains);
            else
                backfill_on_nodes(state, at, std::move(candidates), explains);
            return;
        case Rule::committed:
            state.jobs[state.queue[at]].promise = state.now();
            [[fallthrough]];
        case Rule::strict:
            if (explains) note_all_behind(state, at);
            break;
        case Rule::greedy:
            start_all_that_fit(state, at);
            break;
        default:
            if (state.by_node)
                backfill_by_node(state, at, last);
            else
                backfill_by_slot(state, at, last);
    }
    if (explains) note_shared_resources(state);
}

}  // namespace

void hold_round(State& state, bool explains)
{
    if (state.choices.compression)
        keep_promises(state, explains);
    else
        plan_anew(state, explains);
}

}  // namespace hpcsched
