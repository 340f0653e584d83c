#pragma once

#include "core/state.hpp"

namespace hpcsched {

/// A queue with its order: by fixed keys, by wait over a key, or by priority; the last two change
/// with time.
struct Queue {
    View<int64_t> rows;
    OrderKind kind;
    Matrix<const int64_t> keys;
    View<const Job> jobs;

    /// Insert a row into the first `count`, by its keys or at the end. The end suits new arrivals,
    /// and orders that are computed anew for each round.
    void insert(int64_t row, int64_t count);

    /// Merge `count` rows with the `others` from place `first` on, both in order.
    void merge(int64_t count, int64_t first, int64_t others);

    /// Move jobs that are held back to the end of the first `count` rows.
    void put_held_last(int64_t count);

    /// Sort the first `count` rows by wait over the first key, the largest first, then by the other
    /// keys.
    void sort_by_wait(int64_t count, int64_t now);

    /// Sort the first `count` rows by priority, the highest first, then by arrival.
    void sort_by_priority(int64_t count, const std::vector<double>& priorities);

    /// Whether a job is considered before another: by rank, by keys from `first_key` on, then by
    /// arrival.
    bool goes_before(int64_t one, int64_t other, int64_t first_key) const;
};

Queue queue_of(State& state);
Queue backfill_queue_of(State& state);

/// Multiply sort keys, numbers in pairs of which the second has the lowest 62 bits, by powers of a
/// run time.
void raise_keys(View<int64_t> keys, const Numbers& powers, int64_t run_time);

/// Sort the first `count` jobs of both queues, where the order changes with time.
void sort_queues(State& state, int64_t count);

}  // namespace hpcsched
