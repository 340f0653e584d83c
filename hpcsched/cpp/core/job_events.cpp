#include "core/job_events.hpp"

#include <algorithm>

#include "core/fit_counts.hpp"
#include "core/heap.hpp"
#include "core/limits.hpp"
#include "core/places.hpp"
#include "core/queue_order.hpp"
#include "core/shared_resources.hpp"

namespace hpcsched {

namespace {

/// Seconds, longer than all times together.
constexpr double for_ever = static_cast<double>(int64_t{1} << 60);

/// Order of ends: the earliest first, then the lowest number.
auto by_end(const State& state)
{
    return [jobs = View<const Job>(state.jobs)](int64_t one, int64_t other) {
        if (jobs[one].end != jobs[other].end) return jobs[one].end < jobs[other].end;
        return jobs[one].number < jobs[other].number;
    };
}

void add_amounts(const State& state, View<int64_t> amounts, int64_t units, int64_t shape)
{
    for (int64_t r = 0; r < amounts.size(); ++r) amounts[r] += units * state.shapes.asked(shape, r);
}

/// Insert a job into the queue, at its place in the order.
void join_queue(State& state, int64_t row)
{
    Counters& counters = state.counters;
    Job& job = state.jobs[row];
    job.waits = 1;
    job.held = 0;
    job.span = none;
    job.promise = job.reserved = never;
    job.cell = job.preemptor = job.claims_until = job.suspended_since = none;
    job.suspended = job.backfilled = 0;
    queue_of(state).insert(row, counters.queued);
    if (state.choices.own_backfill_order) backfill_queue_of(state).insert(row, counters.queued);
    ++counters.queued;
    add_amounts(state, state.waiting_amounts, job.units, job.shape);
}

/// Order of running jobs: by planned end, then number.
auto by_planned_end(const State& state)
{
    return [jobs = View<const Job>(state.jobs)](int64_t one, int64_t other) {
        if (jobs[one].planned_end != jobs[other].planned_end)
            return jobs[one].planned_end < jobs[other].planned_end;
        return jobs[one].number < jobs[other].number;
    };
}

/// Return the position of a row among the running ones.
int64_t place_among_running(const State& state, int64_t row)
{
    const View<const int64_t> running = state.running.first(state.counters.running);
    return std::lower_bound(running.begin(), running.end(), row, by_planned_end(state)) -
           running.begin();
}

/// Return the end of a job from the view of rules that keep reservations. If it started since their
/// last round, they take it to have started in that round.
int64_t end_told(const State& state, const Job& job)
{
    if (state.manner.takes_time && job.start > state.counters.last_asked)
        return job.shown_end - (job.start - state.counters.last_asked);
    return job.shown_end;
}

/// Note the start of a job, if it is sought.
void note_start(Sought& sought, int64_t sequence, int64_t now)
{
    const auto found = std::ranges::lower_bound(sought.jobs, sequence);
    if (found == sought.jobs.end() || *found != sequence) return;
    int64_t& start = sought.starts[found - sought.jobs.begin()];
    if (start < 0) --sought.missing;
    start = now;
}

/// Drop the `gone` rows among the first `shown` ones that wait no more, and merge the others with
/// the `held` ones after them.
void keep_waiting(State& state, Queue queue, int64_t shown, int64_t held, int64_t gone)
{
    int64_t kept = 0, k = 0;
    for (; k < shown && gone != 0; ++k) {
        const int64_t row = queue.rows[k];
        if (state.jobs[row].waits != 0)
            queue.rows[kept++] = row;
        else
            --gone;
    }
    // Most jobs that start are near the front, and nobody need look at those behind the last one.
    std::copy(queue.rows.begin() + k, queue.rows.begin() + shown, queue.rows.begin() + kept);
    kept += shown - k;
    if (held != 0) queue.merge(kept, shown, held);
}

}  // namespace

int64_t submit(State& state, int64_t k)
{
    Counters& counters = state.counters;
    const Batch& batch = *state.batch;
    if (counters.free_row == none)
        grow_rows(state, std::max<int64_t>(256, 2 * state.jobs.size()));
    const int64_t row = counters.free_row;
    Job& job = state.jobs[row];
    // Free rows are a list of which each row names the next.
    counters.free_row = job.number;
    const int64_t shape = batch.shape[k];
    job.number = batch.number[k];
    job.sequence = counters.submitted;
    job.submit_time = batch.submit_time[k];
    job.run_time = batch.run_time[k];
    job.predicted = job.expected = batch.predicted[k];
    job.requested_time = batch.requested_time[k];
    job.units = batch.units[k];
    job.shape = job.request = job.later = shape;
    job.requeues = job.lost_time = job.done = 0;
    const bool is_ranked = batch.precedence.columns() != 0;
    job.rank = is_ranked ? batch.precedence(k, 0) : 0;
    job.kind = is_ranked ? batch.precedence(k, 1) : none;
    for (int64_t i = 0; i < batch.keys.columns(); ++i) state.keys(row, i) = batch.keys(k, i);
    if (state.choices.own_backfill_order)
        for (int64_t i = 0; i < batch.behind_keys.columns(); ++i)
            state.behind_keys(row, i) = batch.behind_keys(k, i);
    for (int64_t i = 0; i < state.owners.columns(); ++i) state.owners(row, i) = batch.owners(k, i);
    if (state.expected_run_times)
        job.expected = state.expected_run_times->expected(state.owners(row, 0), job.predicted);
    raise_keys(state.keys.row(row), state.choices.key_powers, job.expected);
    raise_keys(state.behind_keys.row(row), state.choices.behind_key_powers, job.expected);
    store_draw(state, k, row);
    job.limits = batch.limits.size() == 0 ? none : batch.limits[k];
    job.leave = never;
    ++counters.submitted;
    if (state.scores) state.scores->note_arrival(state, shape);
    join_queue(state, row);
    // Beside outages the next round counts the units that fit.
    if (state.by_node && !state.outages.any) add_waiting(state, shape);
    return row;
}

void put_back(State& state, int64_t row)
{
    Job& job = state.jobs[row];
    ++job.requeues;
    const int64_t ran = elapsed(job, state.now()), saved = state.checkpoints.saved(job, ran);
    job.lost_time += ran - saved;
    job.done += saved;
    join_queue(state, row);
    if (state.by_node && !state.outages.any) add_waiting(state, job.shape);
}

void begin(State& state, int64_t row, int64_t cell)
{
    Counters& counters = state.counters;
    const int64_t now = counters.now;
    Job& job = state.jobs[row];
    job.waits = 0;
    job.start = now;
    job.end = now + state.checkpoints.run_time(job);
    job.planned_end = job.shown_end = now + job.predicted;
    job.cell = cell;
    const int64_t count = counters.running, place = place_among_running(state, row);
    int64_t* const running = state.running.begin();
    std::copy_backward(running + place, running + count, running + count + 1);
    running[place] = row;
    // Real ends are a heap, since only the first matters; planned ends are sorted for rules.
    push(row, count, state.ends, by_end(state));
    switch_draw(state, row, 1);
    switch_usage(state, row, 1);
    if (state.priority) state.priority->note_start(PriorityTerms::of(state.keys.row(row)), now);
    if (state.behind_priority)
        state.behind_priority->note_start(PriorityTerms::of(state.behind_keys.row(row)), now);
    if (!state.sought.jobs.empty()) note_start(state.sought, job.sequence, now);
    ++counters.running;
    state.started[counters.started++] = row;
    add_amounts(state, state.waiting_amounts, -job.units, job.shape);
    add_amounts(state, state.running_amounts, job.units, job.shape);
}

void set_held(State& state, int64_t row, int64_t by, bool holds)
{
    Job& job = state.jobs[row];
    const int64_t before = job.held;
    job.held = holds ? before | by : before & ~by;
    if ((before == 0) == (job.held == 0)) return;
    const int64_t sign = before == 0 ? 1 : -1;
    state.counters.held_back += sign;
    add_amounts(state, state.held_amounts, sign * job.units, job.request);
}

void hold_back(State& state)
{
    Counters& counters = state.counters;
    if (counters.held_back == 0) return;
    queue_of(state).put_held_last(counters.queued);
    if (state.choices.own_backfill_order) backfill_queue_of(state).put_held_last(counters.queued);
    counters.queued -= counters.held_back;
}

void leave_queue(State& state)
{
    Counters& counters = state.counters;
    const int64_t shown = counters.queued, held = counters.held_back;
    const int64_t gone =
        counters.started + static_cast<int64_t>(state.flight.dismissed.size());
    keep_waiting(state, queue_of(state), shown, held, gone);
    if (state.choices.own_backfill_order)
        keep_waiting(state, backfill_queue_of(state), shown, held, gone);
    for (int64_t k = 0; k < counters.started; ++k) {
        Job& job = state.jobs[state.started[k]];
        job.shape = job.request;
    }
    counters.queued += held - counters.started;
}

void drop_from_queue(State& state, int64_t row)
{
    Job& job = state.jobs[row];
    const int64_t count = state.counters.queued--;
    std::ranges::remove(state.queue.first(count), row);
    if (state.choices.own_backfill_order) std::ranges::remove(state.behind.first(count), row);
    job.waits = 0;
    add_amounts(state, state.waiting_amounts, -job.units, job.request);
}

int64_t take_nodes(State& state, int64_t row, const Placement& placed)
{
    int64_t first = none, previous = none;
    for (const Span& span : placed) {
        for (int64_t node = span.first; node < span.end; ++node) {
            const int64_t cell = add_cell(state, node, span.units, span.devices);
            (previous == none ? first : state.cells[previous].next) = cell;
            previous = cell;
        }
    }
    change_places(state, first, state.jobs[row].shape, 1);
    return first;
}

void end_first(State& state)
{
    const int64_t row = state.ends[0];
    const Job& job = state.jobs[row];
    if (state.expected_run_times)
        state.expected_run_times->learn(state.owners(row, 0), job.predicted,
                                        elapsed(job, state.now()));
    pop(state.counters.running, state.ends, by_end(state));
    give_back(state, row);
    forget(state, row);
}

void drop_end(State& state, int64_t row)
{
    // Rebuilt in place: the part already rebuilt is never longer than the part read.
    int64_t left = 0;
    for (int64_t k = 0; k < state.counters.running; ++k)
        if (state.ends[k] != row) push(state.ends[k], left++, state.ends, by_end(state));
}

void move_end(State& state, int64_t row, int64_t end, int64_t predicted_end)
{
    Job& job = state.jobs[row];
    drop_end(state, row);
    job.end = end;
    push(row, state.counters.running - 1, state.ends, by_end(state));
    job.planned_end = job.shown_end = predicted_end;
    sort_running(state);
}

void forget(State& state, int64_t row)
{
    state.jobs[row].number = state.counters.free_row;
    state.counters.free_row = row;
}

void sort_running(State& state)
{
    std::ranges::sort(state.running.first(state.counters.running), by_planned_end(state));
}

void stop_running(State& state, int64_t row)
{
    Counters& counters = state.counters;
    const int64_t place = place_among_running(state, row);
    int64_t* const running = state.running.begin();
    std::copy(running + place + 1, running + counters.running, running + place);
    --counters.running;
    switch_draw(state, row, -1);
    switch_usage(state, row, -1);
    add_amounts(state, state.running_amounts, -state.jobs[row].units, state.jobs[row].shape);
}

void give_back(State& state, int64_t row)
{
    Counters& counters = state.counters;
    const Job& job = state.jobs[row];
    if (state.by_node && state.choices.rule != Rule::in_python) runs_of(state);
    if (state.priority)
        state.priority->note_end(PriorityTerms::of(state.keys.row(row)), job.start, state.now());
    if (state.behind_priority)
        state.behind_priority->note_end(PriorityTerms::of(state.behind_keys.row(row)), job.start,
                                        state.now());
    stop_running(state, row);
    counters.freed_until = std::max(counters.freed_until, end_told(state, job));
    if (!state.by_node) {
        add_amounts(state, state.free_amounts, job.units, job.shape);
        give_slots_back(state, job.cell);
        return;
    }
    change_places(state, job.cell, job.shape, -1);
    drop_cells(state, job.cell);
}

int64_t share_of_wait(const Job& job, int64_t until, double share)
{
    return static_cast<int64_t>(
        std::min(share * static_cast<double>(until - job.submit_time), for_ever));
}

}  // namespace hpcsched
