#include "rules/round_plan.hpp"

#include "core/estimated_ends.hpp"
#include "core/fit_counts.hpp"
#include "rules/node_plan.hpp"

namespace hpcsched {

namespace {

Steps steps_of_slots(State& state)
{
    Steps steps(state.now(), state.counters.free_slots);
    for (const int64_t row : running_by_shown_end(state)) {
        // Ends come in order; those of one second share a step.
        steps.begin_step(state.jobs[row].shown_end);
        steps.add_to_last(state.jobs[row].units);
    }
    return steps;
}

Steps steps_of_shape(State& state, int64_t shape)
{
    Steps steps(state.now(), state.shapes.fitting[shape]);
    // The nodes are emptied, end by end.
    Table<int64_t> then(state.available);
    const View<int64_t> fits_now = state.shapes.fits.row(shape);
    Numbers fits(fits_now.begin(), fits_now.end());
    for (const int64_t row : running_by_shown_end(state)) {
        const Job& job = state.jobs[row];
        steps.begin_step(job.shown_end);
        for (int64_t cell = job.cell; cell != none; cell = state.cells[cell].next) {
            const int64_t node = state.cells[cell].node;
            take_from(state, node, state.cells[cell].units, job.shape, -1, then);
            const int64_t more = units_on_node(state, node, shape, then) - fits[node];
            fits[node] += more;
            steps.add_to_last(more);
        }
    }
    return steps;
}

}  // namespace

Steps open_steps(State& state, int64_t shape)
{
    return state.by_node ? steps_of_shape(state, shape) : steps_of_slots(state);
}

RoundPlan open_plan(State& state, bool counted)
{
    if (!state.by_node || counted)
        return {true, open_steps(state, state.jobs[state.queue[0]].shape), {}};
    return {false, {}, open_profile(state)};
}

}  // namespace hpcsched
