#include "core/places.hpp"

#include <algorithm>

namespace hpcsched {

int64_t add_cell(State& state, int64_t first, int64_t second, int64_t devices)
{
    const int64_t cell = state.counters.free_cell;
    if (cell == none) {
        state.cells.add({{first}, {second}, none, devices});
        return state.cells.size() - 1;
    }
    state.counters.free_cell = state.cells[cell].next;
    state.cells[cell] = {{first}, {second}, none, devices};
    return cell;
}

int64_t add_cells(State& state, const UnitPlaces& places)
{
    int64_t first = none, previous = none;
    for (const auto& [node, units, devices] : places) {
        const int64_t cell = add_cell(state, node, units, devices);
        (previous == none ? first : state.cells[previous].next) = cell;
        previous = cell;
    }
    return first;
}

void drop_cells(State& state, int64_t first)
{
    Counters& counters = state.counters;
    for (int64_t cell = first; cell != none;) {
        const int64_t after = state.cells[cell].next;
        state.cells[cell].next = counters.free_cell;
        counters.free_cell = cell;
        cell = after;
    }
}

int64_t take_lowest_slots(State& state, int64_t units)
{
    const View<int64_t> low = state.interval_low, high = state.interval_high;
    int64_t missing = units, first = none, previous = none, k = 0;
    while (missing > 0) {
        const int64_t end = std::min(high[k], low[k] + missing);
        const int64_t cell = add_cell(state, low[k], end);
        if (previous == none)
            first = cell;
        else
            state.cells[previous].next = cell;
        previous = cell;
        missing -= end - low[k];
        // An interval in use up to its end is dropped below, the last one is cut.
        if (end == high[k])
            ++k;
        else
            low[k] = end;
    }
    state.counters.free_slots -= units;
    if (k > 0) {
        const int64_t count = state.counters.intervals;
        std::copy(low.begin() + k, low.begin() + count, low.begin());
        std::copy(high.begin() + k, high.begin() + count, high.begin());
        state.counters.intervals = count - k;
    }
    return first;
}

void give_slots_back(State& state, int64_t first)
{
    const View<int64_t> low = state.interval_low, high = state.interval_high;
    int64_t count = state.counters.intervals;
    for (int64_t cell = first; cell != none; cell = state.cells[cell].next) {
        const int64_t begin = state.cells[cell].low, end = state.cells[cell].high;
        state.counters.free_slots += end - begin;
        const int64_t at = std::lower_bound(low.begin(), low.begin() + count, begin) - low.begin();
        const bool joins_before = at > 0 && high[at - 1] == begin;
        const bool joins_after = at < count && low[at] == end;
        if (joins_before && joins_after) {
            high[at - 1] = high[at];
            std::copy(low.begin() + at + 1, low.begin() + count, low.begin() + at);
            std::copy(high.begin() + at + 1, high.begin() + count, high.begin() + at);
            --count;
        } else if (joins_before) {
            high[at - 1] = end;
        } else if (joins_after) {
            low[at] = begin;
        } else {
            std::copy_backward(low.begin() + at, low.begin() + count, low.begin() + count + 1);
            std::copy_backward(high.begin() + at, high.begin() + count, high.begin() + count + 1);
            low[at] = begin;
            high[at] = end;
            ++count;
        }
    }
    state.counters.intervals = count;
    drop_cells(state, first);
}

namespace {

void write_nodes_of_slots(const State& state, int64_t first, Places& places)
{
    const View<const int64_t> first_slot = state.first_slot;
    const int64_t before = places.size();
    for (int64_t cell = first; cell != none; cell = state.cells[cell].next) {
        int64_t slot = state.cells[cell].low;
        const int64_t end = state.cells[cell].high;
        // The node of the first slot; the following ones are beside it.
        const int64_t* const after = std::upper_bound(first_slot.begin(), first_slot.end(), slot);
        int64_t node = after - first_slot.begin() - 1;
        for (; slot < end; ++node) {
            const int64_t until = std::min(end, first_slot[node + 1]);
            if (until <= slot) continue;
            const auto count = static_cast<int32_t>(until - slot);
            // Two intervals of slots may share a node.
            if (places.size() > before && places.nodes.back() == node) {
                places.units.back() += count;
            } else {
                places.nodes.add(static_cast<int32_t>(node));
                places.units.add(count);
            }
            slot = until;
        }
    }
}

}  // namespace

void write_places(const State& state, int64_t first, Places& places)
{
    if (!state.by_node) {
        write_nodes_of_slots(state, first, places);
        return;
    }
    const bool any_devices = state.column_count() != state.type_count();
    for (; first != none; first = state.cells[first].next) {
        const Cell& cell = state.cells[first];
        places.nodes.add(static_cast<int32_t>(cell.node));
        places.units.add(static_cast<int32_t>(cell.units));
        if (any_devices) places.devices.add(cell.devices);
    }
}

}  // namespace hpcsched
