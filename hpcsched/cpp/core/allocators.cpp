#include "core/allocators.hpp"

#include <algorithm>

#include "core/heap.hpp"

namespace hpcsched {

namespace {

/// Order of rooms: by rank after rank, then by number.
auto by_rank(Matrix<const double> ranks)
{
    return [ranks](int64_t one, int64_t other) {
        for (int64_t k = 0; k < ranks.rows(); ++k)
            if (ranks(k, one) != ranks(k, other)) return ranks(k, one) < ranks(k, other);
        return one < other;
    };
}

/// Return the numbers of rooms for at least one unit a node as a heap, the first by rank on top.
Numbers heap_of_rooms(View<const Span> rooms, Matrix<const double> ranks)
{
    Numbers heap;
    for (int64_t k = 0; k < rooms.size(); ++k)
        if (rooms[k].units > 0) heap.push_back(k);
    make_heap(static_cast<int64_t>(heap.size()), heap, by_rank(ranks));
    return heap;
}

int64_t pop_room(Numbers& heap, Matrix<const double> ranks)
{
    const int64_t room = heap[0];
    pop(static_cast<int64_t>(heap.size()), heap, by_rank(ranks));
    heap.pop_back();
    return room;
}

/// Place units in a room, as many on each node as fit; return how many are left.
int64_t fill_room(int64_t units, const Span& room, Placement& placed)
{
    const int64_t full = std::min(units / room.units, room.nodes());
    const int64_t end = room.first + full;
    if (full != 0) placed.emplace_back(room.first, end, room.units);
    units -= full * room.units;
    if (units == 0 || end == room.end) return units;
    placed.emplace_back(end, end + 1, units);
    return 0;
}

double share(int64_t amount, int64_t of)
{
    return static_cast<double>(amount) / static_cast<double>(of);
}

/// A request to place units of a shape, and what the allocators know about the system. `fits` are
/// the units that fit on each node of each run.
struct Placing {
    Allocator allocator;
    int64_t units;
    const NodeRuns& runs;
    View<const int64_t> fits;
    View<const int64_t> asked;
    Capacity capacity;
    View<const double> pressure;
    const std::vector<bool>& scarce;

    int64_t type_count() const { return asked.size(); }
    void rank_by_room(Matrix<double> ranks) const;
    void weigh(View<double> weights) const;
    void take_turns(Matrix<double> ranks) const;
    bool are_alike(int64_t run, int64_t other) const;
    bool offers(int64_t run, int64_t type) const
    {
        return capacity.of_node(runs.first(run), type) != 0;
    }
};

/// Rank runs by free capacity, for `keep_scarce` after the price of their resources.
void Placing::rank_by_room(Matrix<double> ranks) const
{
    for (int64_t run = 0; run < runs.count(); ++run) {
        if (fits[run] == 0) continue;
        const View<const int64_t> available = runs.free(run);
        double free = 0.0;
        int64_t offered = 0;
        for (int64_t r = 0; r < type_count(); ++r) {
            if (offers(run, r)) {
                free += share(available[r], capacity.of_node(runs.first(run), r));
                ++offered;
            }
            if (allocator == Allocator::keep_scarce && asked[r] == 0 && capacity.total[r] != 0) {
                const double part = share(available[r], capacity.total[r]);
                ranks(0, run) += pressure[r] * part;
                ranks(1, run) += part;
            }
        }
        ranks(2, run) = free / static_cast<double>(std::max(offered, int64_t{1}));
    }
}

/// Write the capacity in demand that would be left on a node of each run.
void Placing::weigh(View<double> weights) const
{
    std::fill(weights.begin(), weights.end(), 0.0);
    for (int64_t r = 0; r < type_count(); ++r) {
        if (capacity.total[r] == 0) continue;
        for (int64_t run = 0; run < runs.count(); ++run) {
            const int64_t left = runs.free(run)[r] - asked[r] * std::min(fits[run], units);
            weights[run] += pressure[r] * static_cast<double>(left) /
                            static_cast<double>(capacity.total[r]);
        }
    }
}

/// Whether two runs have the same scarce types beyond those requested.
bool Placing::are_alike(int64_t run, int64_t other) const
{
    for (int64_t r = 0; r < type_count(); ++r)
        if (scarce[r] && asked[r] == 0 && offers(run, r) != offers(other, r)) return false;
    return true;
}

/// Write the turns of nodes by weighted round robin into the first of their ranks, zeros so far;
/// each node is a run of its own.
///
/// A class has the nodes with the same scarce resource types that the job does not request. Its
/// nodes come in the order of the other ranks: the k-th node of a class with a free share s of its
/// types has turn (k + ½) / s. Nodes with none of these types come first, at turn 0.
void Placing::take_turns(Matrix<double> ranks) const
{
    struct Class {
        int64_t first;  // node
        Numbers free;
        double share = 0.0;
        int64_t turns = 0;
    };
    std::vector<Class> classes;
    std::vector<size_t> class_of;
    Placement rooms;
    for (int64_t node = 0; node < runs.count(); ++node) {
        rooms.emplace_back(node, node + 1, fits[node]);
        size_t number = 0;
        while (number < classes.size() && !are_alike(node, classes[number].first)) ++number;
        if (number == classes.size())
            classes.push_back({node, Numbers(static_cast<size_t>(type_count()))});
        class_of.push_back(number);
        for (int64_t r = 0; r < type_count(); ++r) classes[number].free[r] += runs.free(node)[r];
    }
    for (Class& one : classes) {
        int64_t types = 0;
        for (int64_t r = 0; r < type_count(); ++r) {
            if (scarce[r] && asked[r] == 0 && offers(one.first, r)) {
                one.share += share(one.free[r], capacity.total[r]);
                ++types;
            }
        }
        // The bound keeps classes without free capacity finite.
        if (types != 0) one.share = std::max(one.share / static_cast<double>(types), 1e-9);
    }
    std::vector<double> turn(rooms.size());
    for (Numbers left = heap_of_rooms(rooms, ranks); !left.empty();) {
        const int64_t node = pop_room(left, ranks);
        Class& its = classes[class_of[node]];
        if (its.share > 0)
            turn[node] = (static_cast<double>(its.turns++) + 0.5) / its.share;
    }
    std::copy(turn.begin(), turn.end(), ranks.row(0).begin());
}

}  // namespace

Placement fill_by_number(int64_t units, View<const Span> rooms)
{
    Placement placed;
    for (int64_t k = 0; k < rooms.size() && units != 0; ++k)
        if (rooms[k].units > 0) units = fill_room(units, rooms[k], placed);
    return placed;
}

Placement fill_by_rank(int64_t units, View<const Span> rooms, Matrix<const double> ranks)
{
    // A heap, as few rooms are enough for most jobs; sorting all would take longer.
    Numbers heap = heap_of_rooms(rooms, ranks);
    Placement placed;
    while (units > 0) units = fill_room(units, rooms[pop_room(heap, ranks)], placed);
    return sum_of(placed);
}

Placement place_units(Allocator allocator, const std::vector<bool>& scarce, Capacity capacity,
                      View<const int64_t> asked, int64_t units, const NodeRuns& runs,
                      View<const int64_t> fits, View<const double> pressure)
{
    const bool takes_turns = allocator == Allocator::balanced || allocator == Allocator::hybrid;
    if (takes_turns && runs.count() < runs.node_count()) {
        // Each node of a run has a turn of its own.
        return place_units(allocator, scarce, capacity, asked, units, NodeRuns(runs.of_nodes()),
                           runs.of_nodes(fits), pressure);
    }
    Placement rooms;
    rooms.reserve(static_cast<size_t>(runs.count()));
    // In place: copies of numbers that were just written took a fifth of replays on many nodes.
    for (int64_t run = 0; run < runs.count(); ++run)
        rooms.emplace_back(runs.first(run), runs.end(run), fits[run]);
    if (allocator == Allocator::first_fit) return fill_by_number(units, rooms);
    const Placing placing{allocator, units, runs, fits, asked, capacity, pressure, scarce};
    Table<double> ranks(3, runs.count());
    placing.rank_by_room(ranks);
    if (!placing.scarce.empty()) {
        if (allocator == Allocator::weighted || allocator == Allocator::hybrid)
            placing.weigh(ranks.row(2));
        if (takes_turns) placing.take_turns(ranks);
    }
    return fill_by_rank(units, rooms, ranks);
}

Placement place_on(State& state, int64_t row, Allocator allocator, int64_t shape,
                   const NodeRuns& runs, const Numbers& fits, View<const double> pressure)
{
    const Job& job = state.jobs[row];
    if (allocator >= Allocator::fgd)
        return state.scores->place(state, job, runs, fits, &runs == &state.nodes.runs);
    if (allocator == Allocator::external)
        return with_devices(state, shape,
                            placement_of(state.external->place(row, runs.of_nodes(fits),
                                                               runs.of_nodes())),
                            runs);
    return with_devices(state, shape,
                        place_units(allocator, state.choices.scarce, state.capacity(),
                                    state.shapes.asked.row(shape), job.units, runs, fits, pressure),
                        runs);
}

Placement with_devices(const State& state, int64_t shape, Placement placed, const NodeRuns& runs)
{
    const UnitRequest request = state.shapes.request(shape);
    if (request.devices == nullptr || request.exclusive) return placed;
    Placement found;
    for (const Span& span : placed) {
        for (int64_t run = runs.run_of(span.first); run < runs.count() && runs.first(run) < span.end;
             ++run) {
            const int64_t first = std::max(span.first, runs.first(run));
            const int64_t end = std::min(span.end, runs.end(run));
            const View<const int64_t> free = runs.free(run);
            Numbers left(free.begin() + request.asked.size(), free.end()), taken;
            for (int64_t unit = 0; unit < span.units; ++unit) {
                taken.push_back(request.devices->choose(left));
                request.devices->take(left, taken.back());
            }
            if (span.units == 1) {
                found.push_back({first, end, 1, taken.front()});
                continue;
            }
            for (int64_t node = first; node < end; ++node)
                for (const int64_t devices : taken) found.push_back({node, node + 1, 1, devices});
        }
    }
    return found;
}

}  // namespace hpcsched
