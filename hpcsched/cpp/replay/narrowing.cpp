#include <algorithm>

#include "core/fit_counts.hpp"
#include "core/job_events.hpp"
#include "core/shared_resources.hpp"
#include "replay/outages.hpp"

namespace hpcsched {

namespace {

/// Clear the shapes of queued jobs, and all narrowed shapes.
void forget_all(State& state)
{
    Counters& counters = state.counters;
    for (int64_t k = 0; k < counters.active_shapes; ++k)
        state.shapes.waiting[state.shapes.active[k]] = 0;
    for (int64_t k = 0; k < counters.queued; ++k) state.jobs[state.queue[k]].span = none;
    counters.active_shapes = 0;
    counters.shapes = counters.requests;
}

/// Whether a node is up and stays up for jobs that reach `span` limits.
bool is_open(const Outages& outages, int64_t node, int64_t span)
{
    if (outages.closed[node]) return false;
    return span == 0 || outages.clear_until[node] > outages.limits[span - 1];
}

/// Write a new shape: a request on the nodes that are open to it.
void write_narrowed(State& state, int64_t made, int64_t request, int64_t span,
                    const std::vector<bool>& is_open_to)
{
    Shapes& shapes = state.shapes;
    const Outages& outages = state.outages;
    outages.narrowed[made] = request;
    outages.narrowed_span[made] = span;
    outages.kind[made] = outages.kind[request];
    shapes.exclusive[made] = shapes.exclusive[request];
    shapes.uncountable[made] = shapes.uncountable[request];
    for (int64_t r = 0; r < shapes.asked.columns(); ++r)
        shapes.asked(made, r) = shapes.asked(request, r);
    int64_t room = 0;
    for (int64_t node = 0; node < state.node_count(); ++node) {
        outages.may_use(made, node) = is_open_to[node];
        shapes.on_idle(made, node) = is_open_to[node] ? shapes.on_idle(request, node) : 0;
        room += shapes.on_idle(made, node);
    }
    outages.room[made] = room;
    count_nodes(state, made);
}

/// Return the shape of a request on its open nodes; -1 if the table of shapes is full.
int64_t narrowed_shape(State& state, int64_t request, int64_t span)
{
    Counters& counters = state.counters;
    const Outages& outages = state.outages;
    if (span == 0 && counters.closed == 0) return request;
    for (int64_t shape = counters.requests; shape < counters.shapes; ++shape)
        if (outages.narrowed[shape] == request && outages.narrowed_span[shape] == span)
            return shape;
    std::vector<bool> is_open_to;
    for (int64_t node = 0; node < state.node_count(); ++node)
        is_open_to.push_back(outages.may_use(request, node) && is_open(outages, node, span));
    // Requests that differ in their allowed nodes may not differ in those that are open.
    for (int64_t shape = counters.requests; shape < counters.shapes; ++shape) {
        if (outages.kind[shape] != outages.kind[request] || outages.narrowed_span[shape] != span)
            continue;
        const View<bool> may_use = outages.may_use.row(shape);
        if (std::equal(may_use.begin(), may_use.end(), is_open_to.begin())) return shape;
    }
    if (counters.shapes == outages.narrowed.size()) return none;
    const int64_t made = counters.shapes++;
    write_narrowed(state, made, request, span, is_open_to);
    return made;
}

}  // namespace

bool narrow_all(State& state)
{
    const Outages& outages = state.outages;
    if (!outages.any) return true;
    Counters& counters = state.counters;
    if (counters.stale != 0) {
        forget_all(state);
        counters.stale = 0;
    }
    for (int64_t k = 0; k < counters.queued; ++k) {
        const int64_t row = state.queue[k];
        Job& job = state.jobs[row];
        const int64_t end = counters.now + job.predicted;
        int64_t span = 0;
        while (span < counters.limits && outages.limits[span] < end) ++span;
        // Most jobs reach as many limits as in the round before, and keep their shape.
        if (job.span == span) continue;
        const int64_t shape = narrowed_shape(state, job.request, span);
        if (shape == none) return false;
        const int64_t held = job.held;
        if (job.span >= 0 && held == 0) remove_waiting(state, job.shape);
        job.span = span;
        job.shape = shape;
        const bool too_few = shape >= counters.requests && job.units > outages.room[shape];
        set_held(state, row, held_by_outages, too_few);
        if (job.held == 0) add_waiting(state, shape);
        if (job.held != held) counters.changed = 1;
    }
    return true;
}

}  // namespace hpcsched
