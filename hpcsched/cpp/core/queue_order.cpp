#include "core/queue_order.hpp"

#include <algorithm>
#include <numeric>

namespace hpcsched {

namespace {

/// Priorities of the first `count` jobs of a queue.
std::vector<double> priorities_of(const State& state, const Queue& queue, Multifactor& priority,
                                  int64_t count)
{
    std::vector<PriorityTerms> queued;
    Numbers submit_times;
    for (const int64_t row : queue.rows.first(count)) {
        queued.push_back(PriorityTerms::of(queue.keys.row(row)));
        submit_times.push_back(state.jobs[row].submit_time);
    }
    std::vector<UsageShare> running;
    for (const int64_t row : state.running.first(state.counters.running))
        running.push_back({PriorityTerms::of(queue.keys.row(row)), state.jobs[row].start});
    return priority.priorities(state.now(), submit_times, queued, running);
}

void sort(const State& state, Queue queue, std::optional<Multifactor>& priority, int64_t count)
{
    if (queue.kind == OrderKind::by_wait) queue.sort_by_wait(count, state.now());
    if (queue.kind == OrderKind::by_priority)
        queue.sort_by_priority(count, priorities_of(state, queue, *priority, count));
    if (state.ranks && queue.kind != OrderKind::by_keys)
        std::ranges::stable_sort(queue.rows.first(count), std::ranges::greater{},
                                 [&](int64_t row) { return state.jobs[row].rank; });
}

}  // namespace

Queue queue_of(State& state)
{
    return {state.queue, state.choices.order, state.keys, state.jobs};
}

Queue backfill_queue_of(State& state)
{
    return {state.behind, state.choices.behind_order, state.behind_keys, state.jobs};
}

bool Queue::goes_before(int64_t one, int64_t other, int64_t first_key) const
{
    if (jobs[one].rank != jobs[other].rank) return jobs[one].rank > jobs[other].rank;
    for (int64_t k = first_key; k < keys.columns(); ++k)
        if (keys(one, k) != keys(other, k)) return keys(one, k) < keys(other, k);
    return jobs[one].sequence < jobs[other].sequence;
}

void Queue::insert(int64_t row, int64_t count)
{
    int64_t left = 0, right = count;
    if (kind != OrderKind::by_keys ||
        (count > 0 && keys.columns() == 0 && goes_before(rows[count - 1], row, 0)))
        left = count;
    while (left < right) {
        const int64_t middle = (left + right) / 2;
        if (goes_before(rows[middle], row, 0))
            left = middle + 1;
        else
            right = middle;
    }
    std::copy_backward(rows.begin() + left, rows.begin() + count, rows.begin() + count + 1);
    rows[left] = row;
}

void Queue::merge(int64_t count, int64_t first, int64_t others)
{
    if (kind != OrderKind::by_keys) {
        std::copy(rows.begin() + first, rows.begin() + first + others, rows.begin() + count);
        return;
    }
    const Numbers ordered(rows.begin(), rows.begin() + count);
    int64_t left = 0, right = first;
    for (int64_t k = 0; k < count + others; ++k) {
        const bool is_other = left == count || (right < first + others &&
                                                goes_before(rows[right], ordered[left], 0));
        rows[k] = is_other ? rows[right++] : ordered[left++];
    }
}

void Queue::put_held_last(int64_t count)
{
    std::stable_partition(rows.begin(), rows.begin() + count,
                          [&](int64_t row) { return jobs[row].held == 0; });
}

void Queue::sort_by_wait(int64_t count, int64_t now)
{
    // Ratios are negative waits, so that ascending order has the largest wait first. Insertion
    // sort: any two jobs change places at most once while they wait, so that most of a queue stays
    // sorted from one round to the next.
    std::vector<double> ratios(static_cast<size_t>(count));
    for (int64_t k = 0; k < count; ++k) {
        const int64_t row = rows[k];
        const double ratio =
            static_cast<double>(jobs[row].submit_time - now) / static_cast<double>(keys(row, 0));
        int64_t place = k;
        while (place > 0 &&
               (ratio < ratios[place - 1] ||
                (ratio == ratios[place - 1] && goes_before(row, rows[place - 1], 1)))) {
            ratios[place] = ratios[place - 1];
            rows[place] = rows[place - 1];
            --place;
        }
        ratios[place] = ratio;
        rows[place] = row;
    }
}

void Queue::sort_by_priority(int64_t count, const std::vector<double>& priorities)
{
    Numbers places(static_cast<size_t>(count));
    std::iota(places.begin(), places.end(), 0);
    std::ranges::sort(places, [&](int64_t one, int64_t other) {
        if (priorities[one] != priorities[other]) return priorities[one] > priorities[other];
        return jobs[rows[one]].sequence < jobs[rows[other]].sequence;
    });
    for (int64_t& place : places) place = rows[place];
    std::ranges::copy(places, rows.begin());
}

void raise_keys(View<int64_t> keys, const Numbers& powers, int64_t run_time)
{
    constexpr int bits = 62;
    int64_t* pair = keys.begin();
    for (const int64_t power : powers) {
        __int128 number = (static_cast<__int128>(pair[0]) << bits) | pair[1];
        for (int64_t k = 0; k < power; ++k) number *= run_time;
        *pair++ = static_cast<int64_t>(number >> bits);
        *pair++ = static_cast<int64_t>(number & ((int64_t{1} << bits) - 1));
    }
}

void sort_queues(State& state, int64_t count)
{
    sort(state, queue_of(state), state.priority, count);
    if (state.choices.own_backfill_order)
        sort(state, backfill_queue_of(state), state.behind_priority, count);
}

}  // namespace hpcsched
