#include "core/allocators.hpp"

#include <algorithm>

#include "core/heap.hpp"

namespace hpcsched {

namespace {

/// Order of nodes: by rank after rank, then by number.
auto by_rank(Matrix<const double> ranks)
{
    return [ranks](int64_t one, int64_t other) {
        for (int64_t k = 0; k < ranks.rows(); ++k)
            if (ranks(k, one) != ranks(k, other)) return ranks(k, one) < ranks(k, other);
        return one < other;
    };
}

/// Return the nodes with room as a heap, the first by rank on top.
Numbers heap_of_nodes(View<const int64_t> fits, Matrix<const double> ranks)
{
    Numbers nodes;
    for (int64_t node = 0; node < fits.size(); ++node)
        if (fits[node] > 0) nodes.push_back(node);
    make_heap(static_cast<int64_t>(nodes.size()), nodes, by_rank(ranks));
    return nodes;
}

int64_t pop_node(Numbers& heap, Matrix<const double> ranks)
{
    const int64_t node = heap[0];
    pop(static_cast<int64_t>(heap.size()), heap, by_rank(ranks));
    heap.pop_back();
    return node;
}

double share(int64_t amount, int64_t of)
{
    return static_cast<double>(amount) / static_cast<double>(of);
}

/// A request to place units of a shape, and what the allocators know about the system.
struct Placing {
    Allocator allocator;
    int64_t units;
    View<const int64_t> fits;
    Matrix<const int64_t> available;
    View<const int64_t> asked;
    Capacity capacity;
    View<const double> pressure;
    const std::vector<bool>& scarce;

    int64_t node_count() const { return fits.size(); }
    int64_t type_count() const { return asked.size(); }
    void rank_by_room(Matrix<double> ranks) const;
    void weigh(View<double> weights) const;
    void take_turns(Matrix<double> ranks) const;
    bool are_alike(int64_t node, int64_t other) const;
};

/// Rank nodes by free capacity, for `keep_scarce` after the price of their resources.
void Placing::rank_by_room(Matrix<double> ranks) const
{
    for (int64_t node = 0; node < node_count(); ++node) {
        if (fits[node] == 0) continue;
        double free = 0.0;
        int64_t offered = 0;
        for (int64_t r = 0; r < type_count(); ++r) {
            if (capacity.of_node(node, r) != 0) {
                free += share(available(r, node), capacity.of_node(node, r));
                ++offered;
            }
            if (allocator == Allocator::keep_scarce && asked[r] == 0 && capacity.total[r] != 0) {
                const double part = share(available(r, node), capacity.total[r]);
                ranks(0, node) += pressure[r] * part;
                ranks(1, node) += part;
            }
        }
        ranks(2, node) = free / static_cast<double>(std::max(offered, int64_t{1}));
    }
}

/// Write the capacity in demand that would be left on each node, `[N]`.
void Placing::weigh(View<double> weights) const
{
    std::fill(weights.begin(), weights.end(), 0.0);
    for (int64_t r = 0; r < type_count(); ++r) {
        if (capacity.total[r] == 0) continue;
        for (int64_t node = 0; node < node_count(); ++node) {
            const int64_t left = available(r, node) - asked[r] * std::min(fits[node], units);
            weights[node] += pressure[r] * static_cast<double>(left) /
                             static_cast<double>(capacity.total[r]);
        }
    }
}

/// Whether two nodes have the same scarce types beyond those requested.
bool Placing::are_alike(int64_t node, int64_t other) const
{
    for (int64_t r = 0; r < type_count(); ++r)
        if (scarce[r] && asked[r] == 0 &&
            (capacity.of_node(node, r) > 0) != (capacity.of_node(other, r) > 0))
            return false;
    return true;
}

/// Write the turns of nodes by weighted round robin into the first of their ranks, zeros so far.
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
    for (int64_t node = 0; node < node_count(); ++node) {
        size_t number = 0;
        while (number < classes.size() && !are_alike(node, classes[number].first)) ++number;
        if (number == classes.size())
            classes.push_back({node, Numbers(static_cast<size_t>(type_count()))});
        class_of.push_back(number);
        for (int64_t r = 0; r < type_count(); ++r) classes[number].free[r] += available(r, node);
    }
    for (Class& one : classes) {
        int64_t types = 0;
        for (int64_t r = 0; r < type_count(); ++r) {
            if (scarce[r] && asked[r] == 0 && capacity.of_node(one.first, r) != 0) {
                one.share += share(one.free[r], capacity.total[r]);
                ++types;
            }
        }
        // The bound of `weighted_round_robin`: classes without free capacity stay finite.
        if (types != 0) one.share = std::max(one.share / static_cast<double>(types), 1e-9);
    }
    std::vector<double> turn(static_cast<size_t>(node_count()));
    for (Numbers left = heap_of_nodes(fits, ranks); !left.empty();) {
        const int64_t node = pop_node(left, ranks);
        Class& its = classes[class_of[node]];
        if (its.share > 0)
            turn[node] = (static_cast<double>(its.turns++) + 0.5) / its.share;
    }
    std::copy(turn.begin(), turn.end(), ranks.row(0).begin());
}

}  // namespace

void fill_by_number(int64_t units, View<const int64_t> fits, View<int64_t> placed)
{
    for (int64_t node = 0; node < fits.size() && units != 0; ++node) {
        const int64_t here = std::min(fits[node], units);
        placed[node] += here;
        units -= here;
    }
}

void fill_by_rank(int64_t units, View<const int64_t> fits, Matrix<const double> ranks,
                  View<int64_t> placed)
{
    // A heap, as few nodes are enough for most jobs; sorting all would take longer.
    Numbers nodes = heap_of_nodes(fits, ranks);
    while (units > 0) {
        const int64_t node = pop_node(nodes, ranks);
        const int64_t here = std::min(fits[node], units);
        placed[node] += here;
        units -= here;
    }
}

Numbers place_units(const State& state, Allocator allocator, int64_t shape, int64_t units,
                    View<const int64_t> fits, Matrix<const int64_t> available,
                    View<const double> pressure)
{
    Numbers placed(static_cast<size_t>(fits.size()));
    if (allocator == Allocator::first_fit) {
        fill_by_number(units, fits, placed);
        return placed;
    }
    const Placing placing{allocator, units, fits, available, state.shapes.asked.row(shape),
                          state.capacity(), pressure, state.choices.scarce};
    Table<double> ranks(3, fits.size());
    placing.rank_by_room(ranks);
    if (!placing.scarce.empty()) {
        if (allocator == Allocator::weighted || allocator == Allocator::hybrid)
            placing.weigh(ranks.row(2));
        if (allocator == Allocator::balanced || allocator == Allocator::hybrid)
            placing.take_turns(ranks);
    }
    fill_by_rank(units, fits, ranks, placed);
    return placed;
}

}  // namespace hpcsched
