#pragma once

#include "core/state.hpp"

namespace hpcsched {

/// Free amounts on every node from now on, by runs of nodes that nothing distinguishes.
///
/// A profile is a set of segments. Each lasts from its start to that of the next segment of its
/// run, or for ever where there is none. A run is split where only some of its nodes change. Where
/// each node is a run at first, runs have the nodes' numbers.
class Profile {
public:
    struct OneUnit {
        int64_t begin;  // `never` if there is no room
        int64_t node;
    };

    Profile() = default;

    /// Free amounts by runs, from now on.
    Profile(int64_t now, const NodeRuns& runs);

    /// Free amounts of each node, `[R, N]`, from now on.
    Profile(int64_t now, Matrix<const int64_t> available) : Profile(now, NodeRuns(available)) {}

    int64_t first_node(int64_t run) const { return first_[run]; }
    int64_t end_node(int64_t run) const { return first_[run + 1]; }
    int64_t nodes(int64_t run) const { return end_node(run) - first_node(run); }
    int64_t run_count() const { return static_cast<int64_t>(head_.size()); }

    /// Return the run of a node.
    int64_t run_of(int64_t node) const;

    /// Call a function for each run of some nodes, splitting the first and the last.
    template <class Function>
    void for_each_run(int64_t first, int64_t end, Function function)
    {
        split_run(first);
        split_run(end);
        for (int64_t run = run_of(first); first_[run] < end; ++run) function(run);
    }

    /// Return the last segment of a run, begun at a time; times ascend, and no run is split yet.
    int64_t begin_segment(int64_t run, int64_t time);

    int64_t& free(int64_t segment, int64_t type) { return free_[segment * types_ + type]; }
    int64_t free(int64_t segment, int64_t type) const { return free_[segment * types_ + type]; }
    int64_t start(int64_t segment) const { return start_[segment]; }
    int64_t after(int64_t segment) const { return after_[segment]; }

    /// Number of segments, a measure of the work that a look at them takes.
    int64_t size() const { return static_cast<int64_t>(start_.size()); }

    int64_t type_count() const { return types_; }

    /// Return the first segment of a run.
    int64_t head(int64_t run) const { return head_[run]; }

    /// Return the segment of a run at a time.
    int64_t segment_at(int64_t run, int64_t time) const;

    /// Return the number of units that fit on each node of a run during one of its segments.
    int64_t units_during(int64_t segment, int64_t run, const UnitRequest& request,
                         const Capacity& capacity) const
    {
        const View<const int64_t> free{free_.data() + segment * types_, types_};
        return request.units_that_fit(capacity, first_[run], free);
    }

    /// Whether units fit from now to `end`, each on one node throughout.
    bool fits_until(int64_t end, int64_t units, const UnitRequest& request,
                    const Capacity& capacity) const;

    /// Return the minimum of the free amounts of nodes from `begin` to `end`.
    NodeRuns lowest(int64_t begin, int64_t end) const;

    /// Take amounts, `[R + D]`, of each node of a run from `begin` to `end`; negative ones are given
    /// back.
    void take(int64_t run, int64_t begin, int64_t end, View<const int64_t> amounts);

    /// Set the free amounts of nodes to 0 from `begin` to `end`.
    void close(View<const int64_t> nodes, int64_t begin, int64_t end);

    /// Return the rank of a run's nodes for a stay from a segment to `end`, the least first: the
    /// offer of types that are not requested, and the mean free share.
    std::pair<double, double> preference(int64_t run, int64_t first, int64_t end,
                                         View<const int64_t> asked,
                                         const Capacity& capacity) const;

    /// Reserve room for one unit without devices at the earliest start up to `latest`. There is known to be no room
    /// before `release`. Among nodes with the same start the first by `preference` is taken.
    OneUnit reserve_one(int64_t release, int64_t latest, int64_t run_time,
                        const UnitRequest& request, const Capacity& capacity);

    /// Return the earliest start from `from` to `latest` at which units fit; `never` if none.
    int64_t earliest(int64_t from, int64_t latest, int64_t units, int64_t run_time,
                     const UnitRequest& request, const Capacity& capacity) const;

private:
    int64_t types_ = 0;
    Numbers first_;  // node of each run, and the number of nodes
    Numbers head_;  // first segment of each run
    Numbers start_;
    Numbers after_;
    Numbers free_;
    Numbers last_;  // of each run, while segments are appended

    int64_t split(int64_t segment, int64_t time);
    void split_run(int64_t node);
    void close_run(int64_t run, int64_t begin, int64_t end);
    int64_t room(int64_t begin, int64_t end, const UnitRequest& request,
                 const Capacity& capacity) const;
    int64_t earliest_with_devices(int64_t from, int64_t latest, int64_t units, int64_t run_time,
                                  const UnitRequest& request, const Capacity& capacity) const;
};

}  // namespace hpcsched
