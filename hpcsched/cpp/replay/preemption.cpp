#include "replay/preemption.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/fit_counts.hpp"
#include "core/job_events.hpp"
#include "core/limits.hpp"
#include "core/queue_order.hpp"
#include "core/shared_resources.hpp"
#include "replay/outages.hpp"
#include "replay/output.hpp"
#include "rules/round.hpp"
#include "rules/starts.hpp"

namespace hpcsched {

namespace {

/// Number of times that candidates are put into another order, as Slurm does by default.
constexpr int64_t reorderings = 2;

PreemptMode mode_of(const State& state, const Job& job)
{
    return static_cast<PreemptMode>(int64_t{state.preemption.mode[job.kind]});
}

/// Whether the class or the order of a queued job lets it preempt a running one.
bool may_preempt(State& state, int64_t row, int64_t other)
{
    const Job &job = state.jobs[row], &running = state.jobs[other];
    if (job.kind == none || running.kind == none) return false;
    if (mode_of(state, running) == PreemptMode::off) return false;
    if (state.preemption.by_order) return queue_of(state).goes_before(row, other, 0);
    return state.preemption.may_preempt(job.kind, running.kind) != 0;
}

/// Whether a running job is on a node that a queued one may use.
bool is_in_the_way(const State& state, int64_t row, int64_t other)
{
    const View<const int64_t> on_idle = state.shapes.on_idle.row(state.jobs[row].shape);
    for (int64_t cell = state.jobs[other].cell; cell != none; cell = state.cells[cell].next)
        if (on_idle[state.cells[cell].node] != 0) return true;
    return false;
}

int64_t node_count(const State& state, const Job& job)
{
    int64_t count = 0;
    for (int64_t cell = job.cell; cell != none; cell = state.cells[cell].next) ++count;
    return count;
}

/// Return the running jobs that may be preempted for a queued one, the first to go first: those of
/// the lowest priority, then those on the fewest nodes; and ask for a round when the next one may.
Numbers candidates_for(State& state, int64_t row)
{
    const Preemption& preemption = state.preemption;
    Numbers found;
    for (const int64_t other : state.running.first(state.counters.running)) {
        const Job& job = state.jobs[other];
        const bool is_ending = job.preemptor != none && job.suspended_since == none;
        if (is_ending || !may_preempt(state, row, other) || !is_in_the_way(state, row, other))
            continue;
        const int64_t exempt_until = job.start + job.suspended + preemption.exempt[job.kind];
        if (exempt_until <= state.now())
            found.push_back(other);
        else
            state.counters.call_again = std::min(state.counters.call_again, exempt_until);
    }
    const auto rank = [&](int64_t other) {
        const Job& job = state.jobs[other];
        if (preemption.youngest_first) return std::tuple(-job.start, int64_t{0}, job.sequence);
        return std::tuple(int64_t{preemption.priority[job.kind]}, node_count(state, job),
                          job.sequence);
    };
    if (preemption.by_order && !preemption.youngest_first)
        std::ranges::sort(found, [&](int64_t one, int64_t other) {
            return queue_of(state).goes_before(other, one, 0);
        });
    else
        std::ranges::sort(found, std::ranges::less{}, rank);
    return found;
}

/// Release what a job gives up when it is preempted (sign -1), or take it again (1). A suspended
/// job may take what others hold by now: then less than nothing is free.
void take_preempted(State& state, int64_t row, int64_t sign)
{
    const Job& job = state.jobs[row];
    if (mode_of(state, job) != PreemptMode::suspend) {
        change_places(state, job.cell, job.shape, sign);
        return;
    }
    for (int64_t cell = job.cell; cell != none; cell = state.cells[cell].next) {
        const int64_t node = state.cells[cell].node;
        const Held units{state.cells[cell].units};
        if (state.scores) state.scores->touch(node);
        for (int64_t r = 0; r < state.type_count(); ++r) {
            if (!state.preemption.released[r]) continue;
            const int64_t amount = sign * allocated_on_node(state, node, units, r, job.shape);
            state.available(r, node) -= amount;
            state.free_amounts[r] -= amount;
        }
    }
    recount(state);
}

bool fits_on_nodes(const State& state, int64_t row)
{
    return state.jobs[row].units <= state.shapes.fitting[state.jobs[row].shape];
}

/// Number of a running job's nodes that are among some.
int64_t overlap(const State& state, int64_t row, const std::vector<bool>& used)
{
    int64_t nodes = 0;
    for (int64_t cell = state.jobs[row].cell; cell != none; cell = state.cells[cell].next)
        nodes += used[state.cells[cell].node];
    return nodes;
}

/// Return the jobs to preempt for a queued one, as Slurm's select/cons_tres does. Where some jobs
/// may be suspended, it is placed as if no candidate were there. Elsewhere candidates are taken away
/// one by one until it fits. That is done again with the last one first, then those whose nodes it
/// used most. Jobs on none of its nodes stay.
Numbers find_victims(State& state, int64_t row)
{
    Numbers candidates = candidates_for(state, row);
    // Slurm's gang scheduler, which suspends jobs, is there for all of them or none.
    Numbers ignored;
    if (std::ranges::count(state.preemption.mode, static_cast<int64_t>(PreemptMode::suspend)) != 0)
        std::swap(ignored, candidates);
    const auto number = static_cast<int64_t>(candidates.size());
    Numbers victims;
    for (const int64_t other : ignored) take_preempted(state, other, -1);
    for (int64_t pass = 0;; ++pass) {
        int64_t count = 0;
        while (count < number && !fits_on_nodes(state, row))
            take_preempted(state, candidates[count++], -1);
        const bool fits = fits_on_nodes(state, row);
        std::vector<bool> used(static_cast<size_t>(state.node_count()));
        if (fits)
            for (const Span& span : choose_now(state, row))
                std::fill(used.begin() + span.first, used.begin() + span.end, true);
        for (int64_t k = 0; k < count; ++k) take_preempted(state, candidates[k], 1);
        if (!fits) break;
        std::vector<std::pair<int64_t, int64_t>> overlaps;
        for (int64_t k = 0; k < count; ++k)
            overlaps.emplace_back(overlap(state, candidates[k], used), candidates[k]);
        if (count == 0 || pass == reorderings || number <= pass + 1) {
            for (const int64_t other : ignored)
                overlaps.emplace_back(overlap(state, other, used), other);
            for (const auto& [nodes, other] : overlaps)
                if (nodes != 0) victims.push_back(other);
            break;
        }
        overlaps.back().first = never;
        std::ranges::stable_sort(overlaps, std::ranges::greater{},
                                 [](const auto& one) { return one.first; });
        for (int64_t k = 0; k < count; ++k) candidates[k] = overlaps[k].second;
    }
    for (const int64_t other : ignored) take_preempted(state, other, 1);
    return victims;
}

/// Whether the rule starts a job in a round in which its victims are gone.
bool would_start(State& state, int64_t row, const Numbers& victims)
{
    // What is written may be much, and nobody reads it there.
    Output written = std::exchange(state.output, Output());
    State trial(state);
    state.output = std::move(written);
    leave_queue(trial);
    trial.counters.started = 0;
    for (const int64_t victim : victims) {
        const PreemptMode mode = mode_of(trial, trial.jobs[victim]);
        if (mode == PreemptMode::suspend) {
            take_preempted(trial, victim, -1);
            continue;
        }
        drop_end(trial, victim);
        give_back(trial, victim);
        if (mode == PreemptMode::requeue) requeue(trial, victim);
    }
    // Slurm's backfill scheduler preempts within its round.
    if (trial.counters.last_backfill == trial.now()) trial.counters.last_backfill = none;
    narrow_all(trial);
    hold_back(trial);
    hold_round(trial, false);
    return trial.jobs[row].waits == 0;
}

/// Suspend a job for another that has started on its resources.
void suspend(State& state, int64_t row, const Job& preemptor)
{
    take_preempted(state, row, 1);
    Job& job = state.jobs[row];
    if (job.suspended_since != none) return;
    job.suspended_since = state.now();
    job.preemptor = preemptor.number;
    state.preemption.suspended.push_back(row);
    move_end(state, row, never,
             preemptor.shown_end + std::max(job.shown_end - state.now(), int64_t{1}));
}

/// Preempt jobs for another, and start it unless some of them have a grace time; return the rows of
/// those that are requeued now.
Numbers preempt_for(State& state, int64_t row, const Numbers& victims)
{
    Job& job = state.jobs[row];
    const int64_t now = state.now();
    job.claims_until = now;
    Numbers requeued, suspended;
    for (const int64_t victim : victims) {
        Job& other = state.jobs[victim];
        const PreemptMode mode = mode_of(state, other);
        if (mode == PreemptMode::suspend) {
            suspended.push_back(victim);
            continue;
        }
        other.preemptor = job.number;
        const int64_t end = now + state.preemption.grace[other.kind];
        if (end > now) {
            state.counters.freed_until = std::max(state.counters.freed_until, other.shown_end);
            move_end(state, victim, std::min(other.end, end), std::min(other.shown_end, end));
            job.claims_until = std::max(job.claims_until, other.end);
            continue;
        }
        state.counters.ended_any = true;
        end_attempt(state, victim,
                    mode == PreemptMode::requeue ? Left::requeued : Left::preempted);
        if (mode == PreemptMode::requeue) requeued.push_back(victim);
    }
    if (job.claims_until > now) return requeued;
    for (const int64_t victim : suspended) take_preempted(state, victim, -1);
    start(state, row);
    for (const int64_t victim : suspended) suspend(state, victim, job);
    return requeued;
}

/// Whether nothing but suspended jobs holds what a suspended job has released.
bool may_resume(const State& state, int64_t row)
{
    const Job& job = state.jobs[row];
    for (int64_t cell = job.cell; cell != none; cell = state.cells[cell].next) {
        const int64_t node = state.cells[cell].node;
        for (int64_t r = 0; r < state.type_count(); ++r) {
            if (!state.preemption.released[r]) continue;
            int64_t free = state.available(r, node);
            for (const int64_t other : state.preemption.suspended) {
                if (other == row) continue;
                for (int64_t c = state.jobs[other].cell; c != none; c = state.cells[c].next)
                    if (state.cells[c].node == node)
                        free += allocated_on_node(state, node, {state.cells[c].units}, r,
                                                  state.jobs[other].shape);
            }
            if (free < 0) return false;
        }
    }
    return true;
}

}  // namespace

Numbers preempt(State& state)
{
    Numbers requeued;
    Counters& counters = state.counters;
    if (!state.preemption.any || counters.queued == counters.started) return requeued;
    sort_queues(state, counters.queued);
    compute_pressure(state);
    open_shared(state);
    // Jobs in vain: class, limits, shape, units, and predicted run time, or 0 where nothing helps.
    std::vector<std::tuple<int64_t, int64_t, int64_t, int64_t, int64_t>> refused;
    const Numbers queue(state.queue.begin(), state.queue.begin() + counters.queued);
    for (const int64_t row : queue) {
        const Job& job = state.jobs[row];
        if (!is_tried(state, row) || job.claims_until > counters.now || fits_on_nodes(state, row))
            continue;
        const bool is_vain = std::ranges::any_of(refused, [&](const auto& one) {
            const auto& [kind, limits, shape, units, predicted] = one;
            return kind == job.kind && limits == job.limits && shape == job.shape &&
                   units <= job.units && predicted <= job.predicted;
        });
        if (is_vain) continue;
        const Numbers victims = find_victims(state, row);
        if (victims.empty() || !would_start(state, row, victims)) {
            refused.emplace_back(job.kind, job.limits, job.shape, job.units,
                                 victims.empty() ? 0 : job.predicted);
            continue;
        }
        const Numbers more = preempt_for(state, row, victims);
        requeued.insert(requeued.end(), more.begin(), more.end());
    }
    return requeued;
}

void requeue(State& state, int64_t row)
{
    put_back(state, row);
    const int64_t delay = state.preemption.requeue_delay;
    if (delay == 0) return;
    state.preemption.requeued.emplace_back(row, state.now() + delay);
    if (state.by_node && !state.outages.any) remove_waiting(state, state.jobs[row].shape);
    set_held(state, row, held_by_requeue, true);
}

void release_requeued(State& state)
{
    std::erase_if(state.preemption.requeued, [&](const auto& one) {
        const Job& job = state.jobs[one.first];
        if (one.second > state.now()) return false;
        set_held(state, one.first, held_by_requeue, false);
        if (state.by_node && job.held == 0) add_waiting(state, job.shape);
        return true;
    });
}

int64_t earlier_requeue(const State& state, int64_t event)
{
    const auto& requeued = state.preemption.requeued;  // the first was put back first
    return requeued.empty() ? event : std::min(event, requeued.front().second);
}

bool end_preempted(State& state, int64_t row)
{
    const Job& job = state.jobs[row];
    if (job.preemptor == none) return false;
    if (state.checkpoints.run_time(job) <= elapsed(job, state.now())) return false;
    const bool requeues = mode_of(state, job) == PreemptMode::requeue;
    end_attempt(state, row, requeues ? Left::requeued : Left::preempted);
    if (requeues) requeue(state, row);
    return true;
}

void stop_suspension(State& state, int64_t row)
{
    Job& job = state.jobs[row];
    write_job(state, row, Left::suspended);
    job.suspended += state.now() - job.suspended_since;
    job.suspended_since = job.preemptor = none;
    std::erase(state.preemption.suspended, row);
}

void resume_all(State& state)
{
    const Numbers rows = state.preemption.suspended;  // it changes meanwhile
    for (const int64_t row : rows) {
        if (!may_resume(state, row)) continue;
        stop_suspension(state, row);
        const Job& job = state.jobs[row];
        const int64_t begin = job.start + job.suspended;
        move_end(state, row, begin + state.checkpoints.run_time(job), begin + job.predicted);
    }
}

void add_released(const State& state, View<int64_t> free)
{
    for (const int64_t row : state.preemption.suspended) {
        const Job& job = state.jobs[row];
        for (int64_t cell = job.cell; cell != none; cell = state.cells[cell].next)
            for (int64_t r = 0; r < free.size(); ++r)
                if (state.preemption.released[r])
                    free[r] += allocated_on_node(state, state.cells[cell].node,
                                                 {state.cells[cell].units}, r, job.shape);
    }
}

}  // namespace hpcsched
