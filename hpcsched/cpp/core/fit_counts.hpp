#pragma once

#include "core/state.hpp"

namespace hpcsched {

/// Units that fit on nodes, kept up to date for the shapes of waiting jobs.

/// Return the number of units of a shape that fit on a node, given free amounts, `[R, N]`.
int64_t units_on_node(const State& state, int64_t node, int64_t shape,
                      Matrix<const int64_t> available);

/// Return the amount of a resource type that units of a shape hold on a node.
int64_t allocated_on_node(const State& state, int64_t node, int64_t units, int64_t type,
                          int64_t shape);

/// Allocate units of a shape on a node (sign 1), or release them (-1).
void change_node(State& state, int64_t node, int64_t units, int64_t shape, int64_t sign);

/// Subtract units of a shape (sign 1) from the free amounts of a node at some other time.
void take_from(const State& state, int64_t node, int64_t units, int64_t shape, int64_t sign,
               Matrix<int64_t> available);

/// Count a waiting job of a shape; the first makes the shape active.
void add_waiting(State& state, int64_t shape);

/// Count a waiting job of a shape less; the last makes the shape inactive.
void remove_waiting(State& state, int64_t shape);

/// Compute the fit counts of all waiting shapes.
void count_fits(State& state);

}  // namespace hpcsched
