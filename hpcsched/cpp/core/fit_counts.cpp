#include "core/fit_counts.hpp"

#include <algorithm>

namespace hpcsched {

int64_t units_on_node(const State& state, int64_t node, int64_t shape,
                      Matrix<const int64_t> available)
{
    const Shapes& shapes = state.shapes;
    int64_t fits = shapes.on_idle(shape, node);
    if (fits == 0) return 0;
    for (int64_t r = 0; r < available.rows(); ++r) {
        const int64_t free = available(r, node), asked = shapes.asked(shape, r);
        if (shapes.exclusive[shape]) {
            if (free != state.node_capacity(node, r)) return 0;
        } else if (asked != 0) {
            if (free < asked) return 0;
            // Where at most one unit fits, the check above is enough, and the division is saved.
            if (fits > 1) fits = std::min(fits, free / asked);
        }
    }
    return fits;
}

int64_t allocated_on_node(const State& state, int64_t node, int64_t units, int64_t type,
                          int64_t shape)
{
    if (state.shapes.exclusive[shape]) return state.node_capacity(node, type);
    return units * state.shapes.asked(shape, type);
}

void change_node(State& state, int64_t node, int64_t units, int64_t shape, int64_t sign)
{
    for (int64_t r = 0; r < state.type_count(); ++r) {
        const int64_t amount = sign * allocated_on_node(state, node, units, r, shape);
        state.available(r, node) -= amount;
        state.free_amounts[r] -= amount;
    }
    // Only shapes that wait are counted; others are when their first job arrives.
    Shapes& shapes = state.shapes;
    for (const int64_t other : shapes.active) {
        const int64_t fits = units_on_node(state, node, other, state.available);
        shapes.fitting[other] += fits - shapes.fits(other, node);
        shapes.fits(other, node) = fits;
    }
}

void take_from(const State& state, int64_t node, int64_t units, int64_t shape, int64_t sign,
               Matrix<int64_t> available)
{
    for (int64_t r = 0; r < available.rows(); ++r)
        available(r, node) -= sign * allocated_on_node(state, node, units, r, shape);
}

void add_waiting(State& state, int64_t shape)
{
    if (state.choices.rule == Rule::in_python) return;
    Shapes& shapes = state.shapes;
    if (++shapes.waiting[shape] != 1) return;
    shapes.active.add(shape);
    int64_t total = 0;
    for (int64_t node = 0; node < shapes.fits.columns(); ++node)
        total += shapes.fits(shape, node) = units_on_node(state, node, shape, state.available);
    shapes.fitting[shape] = total;
}

void remove_waiting(State& state, int64_t shape)
{
    if (state.choices.rule == Rule::in_python) return;
    Shapes& shapes = state.shapes;
    if (--shapes.waiting[shape] != 0) return;
    // The order of active shapes does not matter, so the last takes the place.
    *std::find(shapes.active.begin(), shapes.active.end(), shape) = shapes.active.back();
    shapes.active.resize(shapes.active.size() - 1);
}

void count_fits(State& state)
{
    for (int64_t k = 0; k < state.counters.queued; ++k)
        add_waiting(state, state.jobs[state.queue[k]].shape);
}

}  // namespace hpcsched
