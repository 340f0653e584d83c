#include "replay/holding.hpp"

#include <algorithm>

#include "core/fit_counts.hpp"
#include "core/job_events.hpp"

namespace hpcsched {

int64_t earlier_release(const State& state, int64_t event)
{
    const Counters& counters = state.counters;
    // One that has passed is looked at in the next round.
    if (state.manner.holds_jobs && counters.queued != 0 && counters.release > counters.now)
        return std::min(event, counters.release);
    return event;
}

bool needs_look(const State& state)
{
    const Counters& counters = state.counters;
    return state.manner.holds_jobs &&
           (counters.changed || counters.release <= counters.now);
}

bool needs_second_look(const State& state)
{
    return state.counters.held_back != 0 && needs_look(state);
}

void turn_about(State& state, const Numbers& rows)
{
    for (const int64_t row : rows) {
        const Job& job = state.jobs[row];
        const int64_t held = job.held;
        set_held(state, row, held_by_others, (held & held_by_others) == 0);
        if (!state.by_node) continue;
        if (held == 0)
            remove_waiting(state, job.shape);
        else if (job.held == 0)
            add_waiting(state, job.shape);
    }
}

}  // namespace hpcsched
