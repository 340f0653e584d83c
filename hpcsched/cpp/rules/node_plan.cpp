#include "rules/node_plan.hpp"

#include <algorithm>

#include "core/allocators.hpp"
#include "core/estimated_ends.hpp"
#include "core/fit_counts.hpp"
#include "core/shared_resources.hpp"
#include "rules/announced_outages.hpp"

namespace hpcsched {

namespace {

/// Place a job on capacity that is free from `begin` to `end`, and take it; nowhere if it does not
/// fit.
Placement place_between(State& state, int64_t row, int64_t begin, int64_t end, Allocator allocator,
                        View<const double> pressure, Profile& profile)
{
    const Job& job = state.jobs[row];
    const UnitRequest request = state.shapes.request(job.later);
    const NodeRuns lowest = profile.lowest(begin, end);
    Numbers fits;
    int64_t room = 0;
    for (int64_t run = 0; run < lowest.count(); ++run) {
        const int64_t units =
            request.units_that_fit(state.capacity(), lowest.first(run), lowest.free(run));
        fits.push_back(units);
        room += units * lowest.nodes(run);
    }
    if (room < job.units) return {};
    const Placement placed = place_on(state, row, allocator, job.later, lowest, fits, pressure);
    take_placed(state, row, placed, begin, end, 1, profile);
    return placed;
}

}  // namespace

Profile open_profile(State& state)
{
    Profile profile(state.now(), runs_in_service(state));
    for (const int64_t row : RunningByEnd(state)) {
        const Job& job = state.jobs[row];
        for_each_span(state, job.cell, [&](const Span& span) {
            profile.for_each_run(span.first, span.end, [&](int64_t run) {
                const int64_t node = profile.first_node(run);
                const int64_t segment = profile.begin_segment(run, job.shown_end);
                for (int64_t r = 0; r < state.column_count(); ++r)
                    profile.free(segment, r) +=
                        allocated_on_node(state, node, span.on_node(), r, job.shape);
            });
        });
    }
    const Outages& outages = state.outages;
    if (outages.any_announced)
        for (int64_t k = 0; k < outages.start.size(); ++k)
            if (is_ahead(state, k))
                profile.close(outages.nodes_of(k), std::max(outages.start[k], state.now()),
                              outages.end[k]);
    return profile;
}

bool fits_in_profile(const State& state, int64_t row, const Profile& profile)
{
    const Job& job = state.jobs[row];
    return profile.fits_until(state.now() + job.predicted, job.units,
                              state.shapes.request(job.shape), state.capacity());
}

Placement start_in_profile(State& state, int64_t row, Profile& profile)
{
    const int64_t now = state.now(), end = now + state.jobs[row].predicted;
    return place_between(state, row, now, end, state.choices.allocator, state.pressure, profile);
}

void take_placed(const State& state, int64_t row, const Placement& placed, int64_t begin,
                 int64_t end, int64_t sign, Profile& profile)
{
    const int64_t shape = state.jobs[row].shape;
    Numbers amounts(static_cast<size_t>(state.column_count()));
    for (const Span& span : placed) {
        profile.for_each_run(span.first, span.end, [&](int64_t run) {
            const int64_t node = profile.first_node(run);
            for (int64_t r = 0; r < state.column_count(); ++r)
                amounts[r] = sign * allocated_on_node(state, node, span.on_node(), r, shape);
            profile.take(run, begin, end, amounts);
        });
    }
}

int64_t earliest_beside_shared(State& state, int64_t row, int64_t release, int64_t latest,
                               const Profile& profile)
{
    const Job& job = state.jobs[row];
    const auto on_nodes = [&](int64_t from) {
        return profile.earliest(from, latest, job.units, job.predicted,
                                state.shapes.request(job.later), state.capacity());
    };
    // Nodes and shared resources are asked in turn, each from the other's answer on, until both
    // agree.
    int64_t start = on_nodes(release);
    while (start != never) {
        const int64_t later = earliest_in_shared(state, row, start);
        if (later == start) break;
        start = later;
        if (start != never) start = on_nodes(start);
    }
    return start;
}

Placement place_reservation(State& state, int64_t row, int64_t begin, Profile& profile)
{
    const std::vector<double> pressure(static_cast<size_t>(state.type_count()), 1.0);
    const int64_t end = begin + state.jobs[row].predicted;
    return place_between(state, row, begin, end, Allocator::keep_scarce, pressure, profile);
}

Profile::OneUnit reserve_unit(const State& state, int64_t row, int64_t release, int64_t latest,
                              Profile& profile)
{
    const Job& job = state.jobs[row];
    return profile.reserve_one(release, latest, job.predicted, state.shapes.request(job.later),
                               state.capacity());
}

}  // namespace hpcsched
