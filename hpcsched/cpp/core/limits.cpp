#include "core/limits.hpp"

#include <algorithm>
#include <cmath>

#include "core/fit_counts.hpp"
#include "core/job_events.hpp"

namespace hpcsched {

namespace {

/// Return the amount of a job that a counter counts; of time, a second of it.
double amount(const State& state, const Job& job, const Limits::Counter& counter)
{
    if (counter.resource == none) return 1.0;
    return static_cast<double>(job.units * state.shapes.asked(job.request, counter.resource));
}

/// Return the amount of a waiting job, at most: what it adds to a counter if it starts now.
double most_added(const State& state, const Job& job, const Limits::Counter& counter)
{
    if (counter.counted == Counted::nodes)
        return static_cast<double>(std::min(job.units, state.shapes.nodes[job.shape]));
    const double own = amount(state, job, counter);
    return counter.counted == Counted::amount ? own
                                              : own * static_cast<double>(job.requested_time);
}

/// Return the part of a running job in a counter of time.
double time_of(const State& state, const Job& job, const Limits::Counter& counter)
{
    const int64_t passed = state.now() - job.start;
    const int64_t time = counter.counted == Counted::remaining
                             ? std::max(job.requested_time - passed, int64_t{0})
                             : std::max(job.requested_time, passed);
    return amount(state, job, counter) * static_cast<double>(time);
}

/// Count a job on its nodes, or count it out; return how many nodes that are more.
double change_nodes(const State& state, const Job& job, Column<int64_t>& jobs_on, int64_t sign)
{
    int64_t nodes = 0;
    for (int64_t cell = job.cell; cell != none; cell = state.cells[cell].next) {
        int64_t& on = jobs_on[state.cells[cell].node];
        const int64_t before = on;
        on += sign;
        // A node counts once, however many jobs of the group are on it.
        nodes += (on != 0) - (before != 0);
    }
    return static_cast<double>(nodes);
}

/// Compute the counters of time as they are now.
void update_times(State& state)
{
    Limits& limits = state.limits;
    if (!limits.any_over_time) return;
    for (Limits::Counter& counter : limits.counters)
        if (counter.is_of_time()) counter.value = counter.ended;
    for (const int64_t row : state.running.first(state.counters.running)) {
        const Job& job = state.jobs[row];
        if (job.limits == none) continue;
        for (const int64_t k : limits.sets[job.limits].counters) {
            Limits::Counter& counter = limits.counters[k];
            if (counter.is_of_time()) counter.value += time_of(state, job, counter);
        }
    }
}

/// Return a time before which a job that is beyond a limit cannot be within it, if nothing ends;
/// `never` if that takes more than time.
int64_t earliest_within(const State& state, const Job& job)
{
    const Limits& limits = state.limits;
    double wait = 0.0;
    for (const int64_t b : limits.sets[job.limits].bounds) {
        const Limits::Counter& counter = limits.counters[limits.bounds[b].counter];
        const double over =
            counter.value + most_added(state, job, counter) - limits.bounds[b].most;
        if (over <= 0.0) continue;
        if (counter.counted != Counted::remaining) return never;
        double rate = 0.0;
        for (const int64_t row : state.running.first(state.counters.running)) {
            const Job& other = state.jobs[row];
            if (other.limits == none) continue;
            const Numbers& counted = limits.sets[other.limits].counters;
            if (std::ranges::find(counted, limits.bounds[b].counter) != counted.end())
                rate += amount(state, other, counter);
        }
        if (rate == 0.0) return never;
        wait = std::max(wait, std::ceil(over / rate));
    }
    return state.now() + std::max(static_cast<int64_t>(wait), int64_t{1});
}

/// Add what a job would add at most to all its counters (sign 1), or subtract it again (-1).
void reserve_usage(State& state, const Job& job, double sign)
{
    if (job.limits == none) return;
    for (const int64_t k : state.limits.sets[job.limits].counters) {
        Limits::Counter& counter = state.limits.counters[k];
        counter.value += sign * most_added(state, job, counter);
    }
}

}  // namespace

void switch_usage(State& state, int64_t row, int64_t sign)
{
    Limits& limits = state.limits;
    const Job& job = state.jobs[row];
    if (!limits.any || job.limits == none) return;
    for (const int64_t k : limits.sets[job.limits].counters) {
        Limits::Counter& counter = limits.counters[k];
        double change = 0.0;
        if (counter.counted == Counted::nodes)
            change = change_nodes(state, job, counter.jobs_on, sign);
        else if (counter.counted == Counted::amount)
            change = static_cast<double>(sign) * amount(state, job, counter);
        else
            change = static_cast<double>(sign) * time_of(state, job, counter);
        counter.value += change;
        if (sign < 0 && counter.counted == Counted::committed) {
            const auto used = static_cast<double>(state.now() - job.start);
            counter.ended += amount(state, job, counter) * used;
            counter.value += amount(state, job, counter) * used;
        }
    }
}

int64_t broken_limit(const State& state, int64_t row)
{
    const Limits& limits = state.limits;
    const Job& job = state.jobs[row];
    if (!limits.any || job.limits == none) return none;
    for (const int64_t b : limits.sets[job.limits].bounds) {
        const Limits::Counter& counter = limits.counters[limits.bounds[b].counter];
        const double added = most_added(state, job, counter);
        // A job that needs nothing of an amount is not held back by it, however much is used.
        if (added > 0.0 && counter.value + added > limits.bounds[b].most) return b;
    }
    return none;
}

void note_limit(State& state, int64_t row)
{
    state.jobs[row].why = Reason::limit;
    state.jobs[row].other = broken_limit(state, row);
}

bool hold_limited(State& state)
{
    Limits& limits = state.limits;
    if (!limits.any) return false;
    update_times(state);
    bool released = false;
    Numbers shown;
    for (const int64_t row : state.queue.first(state.counters.queued)) {
        Job& job = state.jobs[row];
        const int64_t before = job.held;
        const bool is_free = (before & ~held_by_limits) == 0;
        const bool holds = is_free && broken_limit(state, row) != none;
        if (holds) {
            note_limit(state, row);
        } else if (is_free && state.manner.shows_startable) {
            reserve_usage(state, job, 1.0);
            shown.push_back(row);
        }
        set_held(state, row, held_by_limits, holds);
        if ((before == 0) == (job.held == 0)) continue;
        released |= job.held == 0;
        if (!state.by_node) continue;
        if (job.held == 0)
            add_waiting(state, job.shape);
        else
            remove_waiting(state, job.shape);
    }
    for (const int64_t row : shown) reserve_usage(state, state.jobs[row], -1.0);
    return released;
}

bool wait_for_used_up(State& state)
{
    if (!state.limits.any) return false;
    update_times(state);
    const View<const int64_t> queue = state.queue.first(state.counters.queued);
    const auto is_beyond = [&](int64_t row) { return broken_limit(state, row) != none; };
    return std::ranges::any_of(queue, is_beyond) && std::ranges::all_of(queue, [&](int64_t row) {
        return is_beyond(row) || (state.jobs[row].held & held_by_others) != 0;
    });
}

void find_limit_release(State& state)
{
    Limits& limits = state.limits;
    limits.release = never;
    if (!limits.any_over_time) return;
    // Time has passed since the round began, where its decision takes time.
    update_times(state);
    for (const int64_t row : state.queue.first(state.counters.queued))
        if (broken_limit(state, row) != none)
            limits.release = std::min(limits.release, earliest_within(state, state.jobs[row]));
}

int64_t earlier_limit(const State& state, int64_t event)
{
    const int64_t release = state.limits.release;
    const bool waits = state.counters.queued != 0 && release > state.now();
    return waits ? std::min(event, release) : event;
}

}  // namespace hpcsched
