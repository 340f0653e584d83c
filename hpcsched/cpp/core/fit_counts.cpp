#include "core/fit_counts.hpp"

#include <algorithm>

namespace hpcsched {

namespace {

/// A bound of a run that stays, beside the number of running jobs that begin or end there.
constexpr int32_t lasting = 1 << 30;

void add_bound(State& state, int64_t node)
{
    if (state.nodes.bounds[node]++ == 0) state.nodes.runs.split(node);
}

void drop_bound(State& state, int64_t node)
{
    if (--state.nodes.bounds[node] == 0) state.nodes.runs.merge(node);
}

void add_lasting_bound(State& state, int64_t node)
{
    int32_t& bound = state.nodes.bounds[node];
    if (bound < lasting) bound += lasting;
}

/// Add the bounds between nodes that differ when nothing runs: by capacity, or as running jobs do
/// not explain what is free.
void add_bounds_of_idle_nodes(State& state)
{
    Table<int64_t> idle(state.available);
    for (int64_t k = 0; k < state.counters.running; ++k) {
        const Job& job = state.jobs[state.running[k]];
        for_each_span(state, job.cell, [&](const Span& span) {
            ++state.nodes.bounds[span.first];
            ++state.nodes.bounds[span.end];
            for (int64_t node = span.first; node < span.end; ++node)
                for (int64_t r = 0; r < state.column_count(); ++r)
                    idle(r, node) +=
                        allocated_on_node(state, node, span.on_node(), r, job.shape);
        });
    }
    for (int64_t r = 0; r < state.column_count(); ++r)
        for (int64_t node = 1; node < state.node_count(); ++node)
            if (idle(r, node) != idle(r, node - 1) ||
                state.node_capacity(node, r) != state.node_capacity(node - 1, r))
                add_lasting_bound(state, node);
}

/// Begin runs where nodes have another room for a shape when they are idle.
void split_runs_for(State& state, int64_t shape)
{
    std::vector<bool>& known = state.nodes.known;
    known.resize(static_cast<size_t>(state.shapes.asked.rows()));
    if (known[shape]) return;
    // Shapes beside outages are made anew under the same number.
    known[shape] = !state.outages.any || shape < state.counters.requests;
    const View<const int64_t> on_idle = state.shapes.on_idle.row(shape);
    for (int64_t node = 1; node < on_idle.size(); ++node) {
        if (on_idle[node] == on_idle[node - 1]) continue;
        add_lasting_bound(state, node);
        state.nodes.runs.split(node);
    }
}

int64_t units_on_all(State& state, int64_t shape)
{
    const NodeRuns& runs = runs_of(state);
    int64_t total = 0;
    for (int64_t run = 0; run < runs.count(); ++run)
        total += runs.nodes(run) * units_on_run(state, runs, run, shape);
    return total;
}

void compute_runs(State& state)
{
    std::vector<int32_t>& bounds = state.nodes.bounds;
    bounds.assign(static_cast<size_t>(state.node_count() + 1), 0);
    bounds.front() = bounds.back() = lasting;
    add_bounds_of_idle_nodes(state);
    Numbers first;
    for (int64_t node = 0; node < state.node_count(); ++node)
        if (bounds[node] != 0) first.push_back(node);
    state.nodes.runs = NodeRuns(state.available, std::move(first));
    state.nodes.known.clear();
    state.nodes.are_current = true;
    for (const int64_t shape : state.shapes.active) split_runs_for(state, shape);
}

}  // namespace

Numbers units_on_runs(const State& state, const NodeRuns& runs, int64_t shape)
{
    Numbers units;
    units.reserve(static_cast<size_t>(runs.count()));
    for (int64_t run = 0; run < runs.count(); ++run)
        units.push_back(units_on_run(state, runs, run, shape));
    return units;
}

NodeRuns& runs_of(State& state)
{
    if (!state.nodes.are_current) compute_runs(state);
    return state.nodes.runs;
}

void distinguish(State& state, int64_t shape)
{
    if (state.choices.rule == Rule::in_python) return;
    runs_of(state);
    split_runs_for(state, shape);
}

void change_places(State& state, int64_t cell, int64_t shape, int64_t sign)
{
    // Where Python decides, nobody asks for runs.
    const bool counts = state.choices.rule != Rule::in_python;
    if (counts)
        runs_of(state);
    else
        state.nodes.are_current = false;
    NodeRuns& runs = state.nodes.runs;
    Shapes& shapes = state.shapes;
    // Only shapes that wait are counted; others are when their first job arrives.
    const View<const int64_t> active = shapes.active;
    Numbers before(static_cast<size_t>(active.size()));
    for_each_span(state, cell, [&](const Span& span) {
        for (int64_t r = 0; r < state.column_count(); ++r) {
            for (int64_t node = span.first; node < span.end; ++node) {
                const int64_t amount =
                    sign * allocated_on_node(state, node, span.on_node(), r, shape);
                state.available(r, node) -= amount;
                if (r < state.type_count()) state.free_amounts[r] -= amount;
            }
        }
        if (state.scores)
            for (int64_t node = span.first; node < span.end; ++node)
                state.scores->note_change(state, node, shape, sign);
        if (!counts) return;
        if (sign > 0) {
            add_bound(state, span.first);
            add_bound(state, span.end);
        }
        runs.for_each(span.first, span.end, [&](int64_t run) {
            for (int64_t k = 0; k < active.size(); ++k)
                before[k] = units_on_run(state, runs, run, active[k]);
            take_from_run(state, runs, run, span.on_node(), shape, sign);
            for (int64_t k = 0; k < active.size(); ++k)
                shapes.fitting[active[k]] +=
                    runs.nodes(run) * (units_on_run(state, runs, run, active[k]) - before[k]);
        });
        if (sign < 0) {
            drop_bound(state, span.first);
            drop_bound(state, span.end);
        }
    });
}

void take_from_run(const State& state, NodeRuns& runs, int64_t run, Held units, int64_t shape,
                   int64_t sign)
{
    const View<int64_t> free = runs.free(run);
    for (int64_t r = 0; r < free.size(); ++r)
        free[r] -= sign * allocated_on_node(state, runs.first(run), units, r, shape);
}

void add_waiting(State& state, int64_t shape)
{
    if (state.choices.rule == Rule::in_python) return;
    Shapes& shapes = state.shapes;
    if (++shapes.waiting[shape] != 1) return;
    runs_of(state);
    split_runs_for(state, shape);
    shapes.active.add(shape);
    shapes.fitting[shape] = units_on_all(state, shape);
}

void recount(State& state)
{
    state.nodes.are_current = false;
    for (const int64_t shape : state.shapes.active)
        state.shapes.fitting[shape] = units_on_all(state, shape);
    // Shapes of later starts are made anew where nodes have changed.
    for (int64_t k = 0; k < state.counters.queued && !state.counters.stale; ++k)
        distinguish(state, state.jobs[state.queue[k]].later);
}

void remove_waiting(State& state, int64_t shape)
{
    if (state.choices.rule == Rule::in_python) return;
    Shapes& shapes = state.shapes;
    if (--shapes.waiting[shape] != 0) return;
    // The order of active shapes does not matter, so the last takes the place.
    *std::find(shapes.active.begin(), shapes.active.end(), shape) = shapes.active.back();
    shapes.active.resize(shapes.active.size() - 1);
}

void count_fits(State& state)
{
    state.nodes.are_current = false;
    for (int64_t k = 0; k < state.counters.queued; ++k)
        add_waiting(state, state.jobs[state.queue[k]].shape);
    for (int64_t k = 0; k < state.counters.queued; ++k)
        distinguish(state, state.jobs[state.queue[k]].later);
}

}  // namespace hpcsched
