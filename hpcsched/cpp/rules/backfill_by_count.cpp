#include <algorithm>

#include "core/limits.hpp"
#include "rules/backfill.hpp"
#include "rules/round_plan.hpp"
#include "rules/starts.hpp"

namespace hpcsched {

namespace {

/// Return the first reserved row, in the order in which reservations were made, that leaves too
/// little for a job now together with those before it; -1 if none does.
int64_t first_conflict(const State& state, int64_t row, const Numbers& reserved,
                       const Steps& steps)
{
    const View<const Job> jobs = state.jobs;
    const int64_t units = jobs[row].units, end = state.now() + jobs[row].predicted;
    // What is free before the job's end, at first without any reservation.
    Numbers left;
    for (int64_t k = 0; k < steps.size(); ++k) {
        int64_t free = steps.free(k);
        for (const int64_t other : reserved) {
            const int64_t begin = jobs[other].when;
            if (begin <= steps.start(k) && steps.start(k) < begin + jobs[other].predicted)
                free += jobs[other].units;
        }
        left.push_back(free);
    }
    for (const int64_t other : reserved) {
        const int64_t begin = jobs[other].when;
        const int64_t until = std::min(begin + jobs[other].predicted, end);
        for (int64_t k = 0; k < steps.size(); ++k) {
            if (!(begin <= steps.start(k) && steps.start(k) < until)) continue;
            left[k] -= jobs[other].units;
            if (left[k] < units) return other;
        }
    }
    return none;
}

}  // namespace

void backfill_by_count(State& state, int64_t at, Numbers candidates, bool explains)
{
    const View<Job> jobs = state.jobs;
    const View<int64_t> queue = state.queue;
    const int64_t now = state.now(), count = state.counters.queued;
    Steps steps = open_steps(state, jobs[queue[at]].shape);
    int64_t reservations = 0;
    Numbers reserved;  // for reasons alone
    while (at < count && (explains || (!candidates.empty() && candidates.back() >= at))) {
        const int64_t row = queue[at];
        Job& job = jobs[row];
        if (!candidates.empty() && candidates.back() == at) candidates.pop_back();
        ++at;
        if (!is_tried(state, row)) continue;
        const int64_t step = steps.steps_within(now + job.predicted, job.units);
        const bool within = state.choices.depth < 0 || reservations < state.choices.depth;
        if (explains && step == 0) {
            const bool fits = fits_now(state, row);
            note_wait(state, row, fits ? first_conflict(state, row, reserved, steps) : none,
                      within);
        }
        if (step != 0) {
            steps.take_steps(0, step, now + job.predicted, job.units);
            start(state, row);
        } else if (within) {
            int64_t begins = steps.reserve(now, job.predicted, job.units);
            if (state.choices.window && begins > now + *state.choices.window) {
                steps.take(begins, begins + job.predicted, -job.units);
                begins = never;
            } else {
                if (explains) reserved.push_back(row);
                ++reservations;
            }
            job.when = begins;
            // It begins when the last candidate would have ended: that one still fits.
            if (!candidates.empty() && begins - now >= jobs[queue[candidates.back()]].predicted)
                continue;
        } else {
            continue;
        }
        while (!candidates.empty()) {
            const Job& last = jobs[queue[candidates.back()]];
            if (steps.steps_within(now + last.predicted, last.units) != 0) break;
            candidates.pop_back();
        }
    }
}

}  // namespace hpcsched
