#include "core/estimated_ends.hpp"

#include <algorithm>

namespace hpcsched {

int64_t corrected_end(const Job& job, int64_t now, Correction correction)
{
    const int64_t elapsed = now - job.start, requested = job.requested_time;
    switch (correction) {
        case Correction::asked_for:
            return job.shown_end;
        case Correction::one_second:
            return now + 1;
        case Correction::doubling: {
            int64_t run_time = job.predicted;
            while (run_time <= elapsed) run_time *= 2;
            if (requested > elapsed) run_time = std::min(run_time, requested);
            return job.start + run_time;
        }
        case Correction::to_requested_time:
            break;
    }
    return job.start + std::max(requested, elapsed + 1);
}

Numbers outlived(const State& state)
{
    Numbers rows;
    for (const int64_t row : state.running.first(state.counters.running)) {
        // They are sorted by planned end.
        if (state.jobs[row].planned_end > state.now()) break;
        if (state.jobs[row].shown_end <= state.now()) rows.push_back(row);
    }
    return rows;
}

RunningByEnd::RunningByEnd(State& state) : rows_(state.running.first(state.counters.running))
{
    const View<Job> jobs = state.jobs;
    if (rows_.empty() || jobs[rows_[0]].planned_end > state.now()) return;
    // Rows are sorted by planned end, so that only the first ones may be overdue.
    corrected_.assign(rows_.begin(), rows_.end());
    rows_ = corrected_;
    auto overdue = corrected_.begin();
    for (; overdue != corrected_.end() && jobs[*overdue].planned_end <= state.now(); ++overdue) {
        Job& job = jobs[*overdue];
        job.shown_end = corrected_end(job, state.now(), state.choices.correction);
    }
    const auto before = [&](int64_t one, int64_t other) {
        return jobs[one].shown_end < jobs[other].shown_end;
    };
    std::stable_sort(corrected_.begin(), overdue, before);
    std::inplace_merge(corrected_.begin(), overdue, corrected_.end(), before);
}

}  // namespace hpcsched
