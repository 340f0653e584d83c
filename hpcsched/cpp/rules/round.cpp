#include "rules/round.hpp"

#include <algorithm>

#include "core/limits.hpp"
#include "core/queue_order.hpp"
#include "core/shared_resources.hpp"
#include "rules/announced_outages.hpp"
#include "rules/backfill.hpp"
#include "rules/conservative.hpp"
#include "rules/easy.hpp"
#include "rules/order_search.hpp"
#include "rules/slurm_backfill.hpp"
#include "rules/starts.hpp"

namespace hpcsched {

namespace {

void note_all_behind(State& state, int64_t at)
{
    for (int64_t k = at + 1; k < state.counters.queued; ++k) {
        state.jobs[state.queue[k]].why = Reason::behind;
        state.jobs[state.queue[k]].other = state.queue[at];
    }
}

void start_all_that_fit(State& state, int64_t from)
{
    for (int64_t k = from; k < state.counters.queued; k = first_that_fits(state, k + 1))
        start(state, state.queue[k]);
}

/// Hold a round of a rule without reservations from earlier rounds.
void plan_anew(State& state, bool explains)
{
    const Choices& choices = state.choices;
    const int64_t count = state.counters.queued;
    if (count == 0) return;
    open_shared(state);
    // A promise is made in each round, or it would depend on what else waits.
    const bool goes_on = explains || promises(choices.rule);
    const int64_t first = goes_on ? 0 : first_that_fits(state, 0);
    if (first == count) return;
    sort_queues(state, count);
    if (state.by_node) compute_pressure(state);
    const bool counted = counts_units(state);
    const int64_t at = start_in_order(state);
    if (at == count) return;
    // Where the queue is as it was and nothing has started, none before the first one fits.
    const bool is_known = state.choices.order == OrderKind::by_keys && state.counters.started == 0;
    const int64_t next = first_that_fits(state, is_known ? std::max(first, at + 1) : at + 1);
    if (next == count && !goes_on) return;
    switch (choices.rule) {
        case Rule::backfill:
            hold_backfill(state, at, counted, explains);
            return;
        case Rule::committed:
            state.jobs[state.queue[at]].promise = state.now();
            [[fallthrough]];
        case Rule::strict:
            if (explains) note_all_behind(state, at);
            break;
        case Rule::greedy:
            start_all_that_fit(state, next);
            break;
        default:  // `easy`, `relaxed` and `committed_backfill`
            if (state.by_node)
                easy_on_nodes(state, at, next);
            else
                easy_by_count(state, at, next);
    }
    if (explains) note_shared_resources(state);
}

/// Return the places in the queue, from one on, of the jobs that fit by themselves.
Numbers find_candidates(State& state, int64_t from)
{
    Numbers candidates;
    for (int64_t k = from; k < state.counters.queued; ++k)
        if (is_tried(state, state.queue[k]) && fits_now(state, state.queue[k]))
            candidates.push_back(k);
    return candidates;
}

/// Note the jobs that the starts of a round have brought beyond a limit.
void note_limits(State& state)
{
    for (const int64_t row : state.queue.first(state.counters.queued))
        if (state.jobs[row].waits != 0 && !is_tried(state, row)) note_limit(state, row);
}

}  // namespace

void hold_backfill(State& state, int64_t at, bool counted, bool explains)
{
    Numbers candidates = find_candidates(state, at + 1);
    if (!state.by_node || counted)
        backfill_by_count(state, at, std::move(candidates), explains);
    else
        backfill_on_nodes(state, at, std::move(candidates), explains);
}

void hold_round(State& state, bool explains)
{
    if (state.choices.rule == Rule::slurm_backfill)
        hold_slurm_round(state, explains);
    else if (state.choices.rule == Rule::order_search)
        hold_search_round(state, explains);
    else if (state.choices.compression)
        keep_promises(state, explains);
    else
        plan_anew(state, explains);
    if (explains && state.limits.any) note_limits(state);
}

}  // namespace hpcsched
