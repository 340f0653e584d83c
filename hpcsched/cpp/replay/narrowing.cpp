#include <algorithm>

#include "core/fit_counts.hpp"
#include "core/job_events.hpp"
#include "replay/outages.hpp"

namespace hpcsched {

namespace {

/// Clear the shapes of queued jobs, and all narrowed shapes.
void forget_all(State& state)
{
    const Counters& counters = state.counters;
    for (const int64_t shape : state.shapes.active) state.shapes.waiting[shape] = 0;
    state.shapes.active.clear();
    for (int64_t k = 0; k < counters.queued; ++k) state.jobs[state.queue[k]].span = none;
    keep_shapes(state, counters.requests);
}

/// The `span` of shapes for later starts.
constexpr int64_t any_time = none;

/// Whether a node is up and stays up for jobs that reach `span` limits.
bool is_open(const Outages& outages, int64_t node, int64_t span)
{
    if (span == any_time) return outages.failed[node] == 0;
    if (outages.closed[node]) return false;
    return span == 0 || outages.clear_until[node] > outages.limits[span - 1];
}

/// Append the shape of a request on the nodes that are open to it.
void add_narrowed(State& state, int64_t request, int64_t span, View<const Flag> open_to)
{
    const Shapes& shapes = state.shapes;
    Outages& outages = state.outages;
    // Copies, as the tables grow.
    const Column<int64_t> asked(shapes.asked.row(request));
    Column<int64_t> on_idle(shapes.on_idle.row(request));
    int64_t room = 0;
    for (int64_t node = 0; node < state.node_count(); ++node) {
        if (open_to[node] == 0) on_idle[node] = 0;
        room += on_idle[node];
    }
    const bool uncountable = shapes.uncountable[request] != 0;
    const DeviceRequest devices =
        shapes.devices.empty() ? DeviceRequest{} : shapes.devices[request];
    add_shape(state, {asked, on_idle, shapes.exclusive[request] != 0, &devices}, uncountable);
    outages.kind.add(int64_t{outages.kind[request]});
    outages.may_use.add(open_to);
    outages.room.add(room);
    outages.narrowed.add(request);
    outages.narrowed_span.add(span);
}

/// Return the shape of a request on its open nodes.
int64_t narrowed_shape(State& state, int64_t request, int64_t span)
{
    const Counters& counters = state.counters;
    const Outages& outages = state.outages;
    const int64_t count = state.shapes.count();
    if (span == 0 && counters.closed == 0) return request;
    if (span == any_time && !outages.any_failed) return request;
    for (int64_t shape = counters.requests; shape < count; ++shape)
        if (outages.narrowed[shape] == request && outages.narrowed_span[shape] == span)
            return shape;
    Column<Flag> open_to(state.node_count());
    for (int64_t node = 0; node < state.node_count(); ++node)
        open_to[node] = outages.may_use(request, node) != 0 && is_open(outages, node, span);
    // Requests that differ in their allowed nodes may not differ in those that are open.
    for (int64_t shape = counters.requests; shape < count; ++shape) {
        if (outages.kind[shape] != outages.kind[request] || outages.narrowed_span[shape] != span)
            continue;
        if (std::ranges::equal(outages.may_use.row(shape), open_to)) return shape;
    }
    add_narrowed(state, request, span, open_to);
    return count;
}

}  // namespace

void narrow_all(State& state)
{
    const Outages& outages = state.outages;
    if (!outages.any) return;
    Counters& counters = state.counters;
    if (counters.stale) {
        forget_all(state);
        counters.stale = false;
    }
    for (int64_t k = 0; k < counters.queued; ++k) {
        const int64_t row = state.queue[k];
        Job& job = state.jobs[row];
        const int64_t end = counters.now + job.predicted;
        int64_t span = 0;
        while (span < outages.limits.size() && outages.limits[span] < end) ++span;
        // Most jobs reach as many limits as in the round before, and keep their shape.
        if (job.span == span) continue;
        const int64_t shape = narrowed_shape(state, job.request, span);
        const int64_t later =
            outages.any_announced ? narrowed_shape(state, job.request, any_time) : shape;
        const int64_t held = job.held;
        if (job.span >= 0 && held == 0) remove_waiting(state, job.shape);
        job.span = span;
        job.shape = shape;
        job.later = later;
        distinguish(state, later);
        const int64_t widest = state.manner.plans_past_outages ? later : shape;
        const bool too_few = widest >= counters.requests && job.units > outages.room[widest];
        set_held(state, row, held_by_outages, too_few);
        if (job.held == 0) add_waiting(state, shape);
        if (job.held != held) counters.changed = true;
    }
}

}  // namespace hpcsched
