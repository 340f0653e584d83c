#include "rules/reservations.hpp"

#include "core/fit_counts.hpp"
#include "core/places.hpp"
#include "core/shared_resources.hpp"
#include "rules/node_plan.hpp"
#include "rules/starts.hpp"

namespace hpcsched {

namespace {

/// Take the reserved units of a job from the steps, or give them back.
void take_from_steps(const State& state, Steps& steps, int64_t row, int64_t sign)
{
    const Job& job = state.jobs[row];
    steps.take(job.reserved, job.reserved + job.predicted, sign * job.units);
}

/// Take the reserved capacity of a job from its nodes, or give it back.
void take_from_nodes(const State& state, Profile& profile, int64_t row, int64_t sign)
{
    const Job& job = state.jobs[row];
    Placement placed;
    for_each_span(state, job.cell, [&](const Span& span) { placed.push_back(span); });
    take_placed(state, row, placed, job.reserved, job.reserved + job.predicted, sign, profile);
}

/// Append a reservation to the list of those of this round.
void note(State& state, int64_t row)
{
    const View<Job> jobs = state.jobs;
    Counters& counters = state.counters;
    const int64_t last = counters.last_made;
    jobs[row].made_before = last;
    jobs[row].made_after = none;
    (last == none ? counters.first_made : jobs[last].made_after) = row;
    counters.last_made = row;
}

/// Remove a reservation from the list of those of this round.
void unnote(State& state, int64_t row)
{
    const View<Job> jobs = state.jobs;
    Counters& counters = state.counters;
    const int64_t before = jobs[row].made_before, after = jobs[row].made_after;
    (before == none ? counters.first_made : jobs[before].made_after) = after;
    (after == none ? counters.last_made : jobs[after].made_before) = before;
}

/// Store the reserved nodes of a job.
void note_places(State& state, int64_t row, const Placement& placed)
{
    drop_places(state, row);
    for (auto span = placed.rbegin(); span != placed.rend(); ++span)
        for (int64_t node = span->end; node-- > span->first;)
            note_place(state, row, node, span->on_node());
}

/// Whether the nodes noted for a job have room for it from a time on.
bool stays_free(const State& state, const Profile& profile, int64_t row, int64_t begin)
{
    const Job& job = state.jobs[row];
    const int64_t end = begin + job.predicted;
    bool stays = true;
    for_each_span(state, job.cell, [&](const Span& span) {
        for (int64_t run = profile.run_of(span.first); profile.first_node(run) < span.end; ++run)
            for (int64_t s = profile.segment_at(run, begin);
                 stays && s != none && profile.start(s) < end; s = profile.after(s))
                for (int64_t r = 0; r < state.column_count(); ++r)
                    stays &= profile.free(s, r) >=
                             allocated_on_node(state, profile.first_node(run), span.on_node(), r,
                                               job.shape);
    });
    return stays;
}

/// Reserve room for a job on nodes; see `reserve`.
int64_t reserve_on_nodes(State& state, Profile& profile, int64_t row, int64_t release,
                         int64_t latest)
{
    // One unit needs no sweep over all nodes' changes: each node is tried by itself.
    if (is_single(state, row) && release == state.now() && !state.shared.any) {
        const auto [begin, node] = reserve_unit(state, row, release, latest, profile);
        drop_places(state, row);
        if (begin != never) note_place(state, row, node, {1});
        return begin;
    }
    const int64_t begin = earliest_beside_shared(state, row, release, latest, profile);
    if (begin == never) {
        drop_places(state, row);
        return never;
    }
    note_places(state, row, place_reservation(state, row, begin, profile));
    reserve_shared(state, row, begin, 1);
    return begin;
}

}  // namespace

void take_reserved(State& state, RoundPlan& plan, int64_t row, int64_t sign)
{
    if (plan.by_count) {
        take_from_steps(state, plan.steps, row, sign);
        return;
    }
    take_from_nodes(state, plan.profile, row, sign);
    reserve_shared(state, row, state.jobs[row].reserved, sign);
}

void keep_of_shared(State& state, int64_t sign)
{
    if (!state.shared.any) return;
    for (int64_t row = state.counters.first_made; row != none; row = state.jobs[row].made_after)
        reserve_shared(state, row, state.jobs[row].reserved, sign);
}

void drop_places(State& state, int64_t row)
{
    drop_cells(state, state.jobs[row].cell);
    state.jobs[row].cell = none;
}

void note_place(State& state, int64_t row, int64_t node, Held units)
{
    const int64_t cell = add_cell(state, node, units.units, units.devices);
    state.cells[cell].next = state.jobs[row].cell;
    state.jobs[row].cell = cell;
}

int64_t reserve(State& state, RoundPlan& plan, int64_t row, int64_t release, int64_t latest)
{
    Job& job = state.jobs[row];
    job.reserved = plan.by_count
                       ? plan.steps.reserve(release, job.predicted, job.units)
                       : reserve_on_nodes(state, plan.profile, row, release, latest);
    if (job.reserved != never) note(state, row);
    return job.reserved;
}

bool hold(State& state, RoundPlan& plan, int64_t row, int64_t begin)
{
    Job& job = state.jobs[row];
    job.reserved = begin;
    if (begin == never) return true;
    if (plan.by_count) {
        if (plan.steps.least(begin, begin + job.predicted) < job.units) return false;
        take_from_steps(state, plan.steps, row, 1);
    } else {
        if (!shared_suffice(state, row, begin)) return false;
        // The same nodes as before, if possible, so that other reservations need no change.
        if (job.cell != none && stays_free(state, plan.profile, row, begin)) {
            take_from_nodes(state, plan.profile, row, 1);
        } else {
            note_places(state, row, place_reservation(state, row, begin, plan.profile));
            if (job.cell == none) return false;
        }
        reserve_shared(state, row, begin, 1);
    }
    note(state, row);
    return true;
}

int64_t cancel(State& state, RoundPlan& plan, int64_t row)
{
    if (state.jobs[row].reserved != never) {
        take_reserved(state, plan, row, -1);
        unnote(state, row);
    }
    return state.jobs[row].reserved;
}

bool fits_beside(State& state, const RoundPlan& plan, int64_t row)
{
    const Job& job = state.jobs[row];
    if (plan.by_count)
        return plan.steps.steps_within(state.now() + job.predicted, job.units) > 0;
    return shared_suffice(state, row, state.now()) && fits_in_profile(state, row, plan.profile);
}

bool start_beside(State& state, RoundPlan& plan, int64_t row)
{
    if (!fits_now(state, row) || !fits_beside(state, plan, row)) return false;
    if (plan.by_count) {
        state.jobs[row].reserved = state.now();
        take_from_steps(state, plan.steps, row, 1);
        start(state, row);
    } else {
        drop_places(state, row);
        start_where_placed(state, row, start_in_profile(state, row, plan.profile));
    }
    return true;
}

}  // namespace hpcsched
