#include "rules/slurm_backfill.hpp"

#include <algorithm>
#include <unordered_map>

#include "core/fit_counts.hpp"
#include "core/job_events.hpp"
#include "core/limits.hpp"
#include "core/queue_order.hpp"
#include "core/shared_resources.hpp"
#include "rules/announced_outages.hpp"
#include "rules/backfill.hpp"
#include "rules/starts.hpp"

namespace hpcsched {

namespace {

/// Start a job on nodes that no blocking job may use; return whether it fits there.
bool start_beside(State& state, int64_t row, const Numbers& blocking)
{
    if (blocking.empty() || !state.by_node) {
        if (blocking.empty()) start(state, row);
        return blocking.empty();
    }
    const Table<int64_t> available(state.available);
    for (const int64_t other : blocking) {
        const View<const int64_t> on_idle = state.shapes.on_idle.row(state.jobs[other].later);
        for (int64_t node = 0; node < state.node_count(); ++node)
            for (int64_t r = 0; r < state.type_count(); ++r)
                if (on_idle[node] != 0) state.available(r, node) = 0;
    }
    recount(state);
    const bool fits = fits_now(state, row);
    const Placement placed = fits ? choose_now(state, row) : Placement{};
    state.available = available;
    recount(state);
    if (fits) start_where_placed(state, row, placed);
    return fits;
}

/// Start the first jobs in order, but none behind the first of its partition that does not fit, and
/// none on nodes that this one may use.
void hold_main_round(State& state, bool explains)
{
    Numbers blocking;  // rows of the first job of a partition that does not fit
    Numbers refused;  // rows of jobs that fit, but not beside these
    for (int64_t k = 0; k < state.counters.queued; ++k) {
        const int64_t row = state.queue[k], partition = state.owners(row, 1);
        Job& job = state.jobs[row];
        job.other = job.when = none;
        if (k >= state.choices.slurm.queue_depth) {
            job.why = Reason::beyond_queue_depth;
            continue;
        }
        if (!is_tried(state, row)) continue;
        const auto first = std::ranges::find_if(
            blocking, [&](int64_t other) { return state.owners(other, 1) == partition; });
        const bool is_behind = first != blocking.end(), fits = !is_behind && fits_now(state, row);
        const auto is_larger = [&](int64_t other) {
            return state.jobs[other].shape == job.shape && state.jobs[other].units <= job.units;
        };
        if (fits && std::ranges::none_of(refused, is_larger) && start_beside(state, row, blocking))
            continue;
        if (is_behind || fits) {
            job.why = Reason::behind;
            job.other = is_behind ? *first : blocking.front();
            if (fits) refused.push_back(row);
        } else {
            job.why = Reason::no_room;
            if (explains) note_shared_resource(state, row);
            blocking.push_back(row);
        }
    }
}

/// Waiting jobs that the backfill scheduler tries, in order.
Numbers tested_jobs(const State& state)
{
    const SlurmBackfill& settings = state.choices.slurm;
    Numbers tested;
    std::unordered_map<int64_t, int64_t> of_user;
    for (const int64_t row : state.queue.first(state.counters.queued)) {
        if (static_cast<int64_t>(tested.size()) == settings.most_tested) break;
        if (!is_tried(state, row)) continue;
        const int64_t user = state.owners(row, 0);
        if (settings.most_of_user == 0 || user == none || of_user[user]++ < settings.most_of_user)
            tested.push_back(row);
    }
    return tested;
}

/// Predicted run time, with its end rounded up: a job may run up to an announced outage, whose times
/// are exact, as those of Slurm's own reservations are.
int64_t rounded_run_time(const State& state, const Job& job)
{
    const int64_t end = state.now() + job.predicted;
    int64_t rounded = end + floor_modulo(-end, state.choices.slurm.resolution);
    for (const int64_t begin : state.outages.start)
        if (begin >= end) rounded = std::min(rounded, begin);
    return rounded - state.now();
}

/// Give jobs the predicted ends of their own again, also those that have just started.
void restore_predictions(State& state, const Numbers& rows, const Numbers& predicted)
{
    for (std::size_t k = 0; k < rows.size(); ++k) {
        Job& job = state.jobs[rows[k]];
        job.predicted = predicted[k];
        if (job.waits == 0) job.planned_end = job.shown_end = state.now() + job.predicted;
    }
    sort_running(state);
}

/// Note that jobs behind the first one that waits were backfilled.
void note_backfilled(State& state, const Numbers& tested)
{
    int64_t head = none;
    for (const int64_t row : tested) {
        Job& job = state.jobs[row];
        if (job.waits == 0)
            job.other = head;
        else if (head == none)
            head = row;
    }
}

/// Start or reserve, job by job.
void hold_backfill_round(State& state, int64_t last_end, bool explains)
{
    const int64_t count = state.counters.queued;
    const Numbers queue(state.queue.begin(), state.queue.begin() + count);
    const Numbers tested = tested_jobs(state);
    Numbers predicted;
    for (const int64_t row : tested) {
        Job& job = state.jobs[row];
        predicted.push_back(job.predicted);
        job.predicted = rounded_run_time(state, job);
    }
    std::ranges::copy(tested, state.queue.begin());
    state.counters.queued = static_cast<int64_t>(tested.size());
    const bool counted = counts_units(state, last_end);
    const int64_t at = start_in_order(state);
    if (at < state.counters.queued) hold_backfill(state, at, counted, explains);
    if (explains) note_backfilled(state, tested);
    std::ranges::copy(queue, state.queue.begin());
    state.counters.queued = count;
    restore_predictions(state, tested, predicted);
}

}  // namespace

void hold_slurm_round(State& state, bool explains)
{
    Counters& counters = state.counters;
    counters.call_again = never;
    if (counters.queued == 0) return;
    open_shared(state);
    sort_queues(state, counters.queued);
    if (state.by_node) compute_pressure(state);
    const int64_t last_end = last_running_end(state);
    hold_main_round(state, explains);
    if (counters.started == counters.queued) return;
    const int64_t due = counters.last_backfill == none
                            ? counters.now
                            : counters.last_backfill + state.choices.slurm.interval;
    if (due > counters.now) {
        counters.call_again = due;
        return;
    }
    counters.last_backfill = counters.now;
    hold_backfill_round(state, last_end, explains);
}

}  // namespace hpcsched
