#pragma once

#include "core/state.hpp"

namespace hpcsched {

/// A queue with its order: by fixed keys, or by wait over a key, which changes with time, as do
/// orders that Python computes.
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

    /// Put rows into an order, and the others of the first `count` behind them.
    void arrange(const Numbers& shown, int64_t count);

    /// Sort the first `count` rows by wait over the first key, the largest first, then by the other
    /// keys. Returns whether this is such an order.
    bool sort_by_wait(int64_t count, int64_t now);

private:
    bool goes_before(int64_t one, int64_t other, int64_t first_key) const;
};

Queue queue_of(State& state);
Queue backfill_queue_of(State& state);

}  // namespace hpcsched
