#pragma once

#include "core/state.hpp"

namespace hpcsched {

/// Free amounts on every node from now on.
///
/// A profile is a set of segments. Each lasts from its start to that of the next segment of its
/// node, or for ever where there is none. The first segment of node `n` is number `n`.
class Profile {
public:
    struct OneUnit {
        int64_t begin;  // `never` if there is no room
        int64_t node;
    };

    Profile() = default;

    /// The free amounts `available`, `[R, N]`, from now on.
    Profile(int64_t now, Matrix<const int64_t> available);

    /// Return the last segment of a node, begun at a time; times ascend.
    int64_t begin_segment(int64_t node, int64_t time);

    int64_t& free(int64_t segment, int64_t type) { return free_[segment * types_ + type]; }
    int64_t free(int64_t segment, int64_t type) const { return free_[segment * types_ + type]; }
    int64_t start(int64_t segment) const { return start_[segment]; }
    int64_t after(int64_t segment) const { return after_[segment]; }

    /// Number of segments, a measure of the work that a look at them takes.
    int64_t size() const { return static_cast<int64_t>(start_.size()); }

    int64_t type_count() const { return types_; }

    /// Return the segment of a node at a time.
    int64_t segment_at(int64_t node, int64_t time) const;

    /// Return the number of units that fit on a node during one of its segments.
    int64_t units_during(int64_t segment, int64_t node, const UnitRequest& request,
                         const Capacity& capacity) const;

    /// Whether units fit from now to `end`, each on one node throughout.
    bool fits_until(int64_t end, int64_t units, const UnitRequest& request,
                    const Capacity& capacity) const;

    /// Return the minimum of the free amounts on each node from `begin` to `end`, `[R, N]`.
    Table<int64_t> lowest(int64_t begin, int64_t end, int64_t nodes) const;

    /// Take amounts, `[R]`, of a node from `begin` to `end`; negative ones are given back.
    void take(int64_t node, int64_t begin, int64_t end, View<const int64_t> amounts);

    /// Set the free amounts of nodes to 0 from `begin` to `end`.
    void close(View<const int64_t> nodes, int64_t begin, int64_t end);

    /// Return the rank of a node for a stay from a segment to `end`, the least first: the offer of
    /// types that are not requested, and the mean free share.
    std::pair<double, double> preference(int64_t node, int64_t first, int64_t end,
                                         View<const int64_t> asked,
                                         const Capacity& capacity) const;

    /// Reserve room for one unit at the earliest start up to `latest`. There is known to be no room
    /// before `release`. Among nodes with the same start the first by `preference` is taken.
    OneUnit reserve_one(int64_t release, int64_t latest, int64_t run_time,
                        const UnitRequest& request, const Capacity& capacity);

    /// Return the earliest start from `from` to `latest` at which units fit; `never` if none.
    int64_t earliest(int64_t from, int64_t latest, int64_t units, int64_t run_time,
                     const UnitRequest& request, const Capacity& capacity) const;

private:
    int64_t types_ = 0;
    Numbers start_;
    Numbers after_;
    Numbers free_;
    Numbers last_;  // of each node, while segments are appended

    int64_t split(int64_t segment, int64_t time);
};

}  // namespace hpcsched
