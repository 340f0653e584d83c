#include "rules/round_plan.hpp"

#include "core/estimated_ends.hpp"
#include "core/fit_counts.hpp"
#include "rules/node_plan.hpp"

namespace hpcsched {

namespace {

Steps steps_of_slots(State& state)
{
    Steps steps(state.now(), state.counters.free_slots);
    for (const int64_t row : RunningByEnd(state)) {
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
    NodeRuns then = runs_of(state);
    for (const int64_t row : RunningByEnd(state)) {
        const Job& job = state.jobs[row];
        steps.begin_step(job.shown_end);
        for_each_span(state, job.cell, [&](const Span& span) {
            then.for_each(span.first, span.end, [&](int64_t run) {
                const int64_t before = units_on_run(state, then, run, shape);
                take_from_run(state, then, run, span.on_node(), job.shape, -1);
                const int64_t more = units_on_run(state, then, run, shape) - before;
                steps.add_to_last(then.nodes(run) * more);
            });
        });
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
