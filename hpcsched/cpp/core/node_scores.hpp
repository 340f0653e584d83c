#pragma once

#include <unordered_map>
#include <vector>

#include "core/codes.hpp"
#include "core/devices.hpp"
#include "core/node_runs.hpp"

namespace hpcsched {

struct Job;
struct State;
struct UnitRequest;

/// Scores of nodes for units with devices; see the allocators in Python, which document them. Nodes
/// with equal scores come in an order of their own, drawn once. Amounts of types that are not
/// weighed, such as memory, only decide where a unit fits.
class NodeScores {
public:
    /// `capacity` is that of each node, with parts of devices, `[N, R + D]`; `order` has the place of
    /// each node among equal ones, `weighed` whether each type is; a device has so many parts.
    NodeScores(Allocator allocator, Matrix<const int64_t> capacity, Numbers order,
               std::vector<bool> weighed, int64_t seed, int64_t parts);

    /// Append the kind of a request. Those of one kind are the same but for types that are not
    /// weighed.
    void add_kind(int64_t kind) { kinds_.push_back(kind); }

    /// Note that a job with a request has come, of which the usual ones are learnt.
    void note_arrival(const State& state, int64_t request);

    /// Note that what is free on a node has changed.
    void touch(int64_t node) { ++version_[node]; }

    /// Note that units of a shape have been placed on a node (sign 1) or have left it (-1).
    void note_change(const State& state, int64_t node, int64_t shape, int64_t sign);

    /// Return a placement of a job, with devices, given the free amounts of nodes by runs and the
    /// units that fit on each node of each run. `is_now`: these are the present ones.
    Placement place(const State& state, const Job& job, const NodeRuns& runs,
                    View<const int64_t> fits, bool is_now);

private:
    struct Score {
        double value = 0.0;
        int64_t version = none;
        int64_t devices = 0;
    };

    /// A usual request, and its share of all.
    struct Usual {
        int64_t request;
        double share;
    };

    struct Hash {
        size_t operator()(const Numbers& key) const;
    };

    Allocator allocator_;
    Numbers order_;
    std::vector<bool> weighed_;
    int64_t random_;
    int64_t parts_;  // of a device
    double weighed_types_;  // number of them
    Numbers largest_;  // capacity of a node of each type, and of a part of a device
    Numbers devices_;  // of each node
    Numbers kinds_;  // of each request
    Numbers arrived_;  // jobs of each kind
    Numbers example_;  // a request of each kind
    int64_t arrivals_ = 0;
    int64_t learnt_at_ = 0;  // number of arrivals
    std::vector<Usual> usual_;
    std::vector<Numbers> steps_;  // distinct amounts of usual requests, ascending, of each type
    Numbers class_of_;  // nodes that the same usual requests may use
    std::unordered_map<Numbers, double, Hash> fragmentation_;  // of known states of a node
    Numbers version_;  // of each node; what is noted with another one has changed
    std::vector<std::vector<Score>> known_;  // of each request, by node
    std::vector<Numbers> sizes_;  // of each node: units with shares, and with 1, 2, ... devices

    int64_t one_device() const { return largest_.back() * parts_; }
    size_t size_of(const DeviceRequest& asked) const;
    void learn(const State& state);
    Score score(const State& state, const UnitRequest& request, int64_t node,
                View<const int64_t> free);
    double fragmentation(const State& state, int64_t node, View<const int64_t> free);
    double best_fall(const State& state, const UnitRequest& request, int64_t node,
                     View<const int64_t> free, int64_t& devices);
    double packing(const DeviceRequest& asked, int64_t node, View<const int64_t> devices,
                   int64_t taken) const;
    double company(const DeviceRequest& asked, int64_t node, View<const int64_t> devices) const;
    double what_stays(const UnitRequest& request, View<const int64_t> free) const;
    double alignment(const UnitRequest& request, View<const int64_t> free) const;
    int64_t drawn_device(const DeviceRequest& asked, View<const int64_t> devices);
};

}  // namespace hpcsched
