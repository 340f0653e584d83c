#pragma once

#include <algorithm>

#include "core/views.hpp"

namespace hpcsched {

/// Units of a job on a node.
struct Held {
    int64_t units;
    int64_t devices = 0;  // parts that a unit takes, bits; see `DeviceRequest`
};

/// Consecutive nodes, from `first` to before `end`, with so many units on each.
struct Span {
    int64_t first;
    int64_t end;
    int64_t units;
    int64_t devices = 0;

    int64_t nodes() const { return end - first; }
    Held on_node() const { return {units, devices}; }
};

/// Units of a job on nodes: spans in ascending order, each with at least one unit a node. With
/// devices, each unit of a node that holds several has a span of its own.
using Placement = std::vector<Span>;

/// Call a function for the first and the end of each stretch of consecutive ones of some nodes.
template <class Function>
void for_each_stretch(View<const int64_t> nodes, Function function)
{
    for (int64_t k = 0, end; k < nodes.size(); k = end) {
        end = k + 1;
        while (end < nodes.size() && nodes[end] == nodes[end - 1] + 1) ++end;
        function(nodes[k], nodes[end - 1] + 1);
    }
}

/// Return the sum of spans, which come in any order.
Placement sum_of(const Placement& spans);

/// Return the units on each node, `[N]`, as spans.
Placement placement_of(View<const int64_t> units);

/// Free amounts of nodes by runs: consecutive nodes that nothing distinguishes. A pass over all
/// nodes costs by the number of different ones.
class NodeRuns {
public:
    NodeRuns() = default;

    /// A run of each node with free amounts, `[R, N]`.
    explicit NodeRuns(Matrix<const int64_t> available);

    /// Runs that begin at nodes, with the free amounts of these, `[R, N]`.
    NodeRuns(Matrix<const int64_t> available, Numbers first);

    /// Runs that begin at nodes, and the end of the last one, with nothing free.
    NodeRuns(int64_t types, Numbers first);

    int64_t count() const { return static_cast<int64_t>(first_.size()) - 1; }
    int64_t first(int64_t run) const { return first_[run]; }
    int64_t end(int64_t run) const { return first_[run + 1]; }
    int64_t nodes(int64_t run) const { return end(run) - first(run); }
    int64_t node_count() const { return first_.back(); }

    /// Return the run of a node.
    int64_t run_of(int64_t node) const
    {
        return std::upper_bound(first_.begin(), first_.end(), node) - first_.begin() - 1;
    }

    /// Free amounts of each node of a run, `[R]`.
    View<int64_t> free(int64_t run) { return {free_.data() + run * types_, types_}; }
    View<const int64_t> free(int64_t run) const { return {free_.data() + run * types_, types_}; }

    /// Return the run that begins at a node, splitting one if needed; the number of runs for the
    /// end of the nodes.
    int64_t split(int64_t node);

    /// Merge the run that begins at a node, if there is one, with the one before it.
    void merge(int64_t node);

    /// Call a function for each run of some nodes, which begin and end runs.
    template <class Function>
    void for_each(int64_t first, int64_t end, Function function)
    {
        int64_t run = split(first);
        split(end);
        for (; first_[run] < end; ++run) function(run);
    }

    /// Return the free amounts of each node, `[R, N]`.
    Table<int64_t> of_nodes() const;

    /// Return a number of each node, given that of each run.
    Numbers of_nodes(View<const int64_t> of_run) const;

private:
    int64_t types_ = 0;
    Numbers first_;  // of each run, and the number of nodes
    Numbers free_;

    int64_t first_from(int64_t node) const
    {
        return std::lower_bound(first_.begin(), first_.end(), node) - first_.begin();
    }
};

}  // namespace hpcsched
