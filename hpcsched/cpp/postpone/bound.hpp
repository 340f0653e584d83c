#pragma once

#include "postpone/state.hpp"

namespace hpcsched::postpone {

/// Lower bounds of the cost of plans that begin as the search has it.
///
/// Two bounds are compared with the best plan.
///
/// - By time tables: no job starts before the earliest time at which it could.
/// - By energy: of a resource that all share, jobs take run time × demand each. On a machine that
///   may split them at will, the free amount is best given to the job with most weight for its
///   energy first; the sum of weight × mean time of processing is then least, as for one machine
///   (Smith 1956; Goemans 1996), and in no plan is it less. A job's mean time is its start and
///   half its run time.
class Bound {
public:
    explicit Bound(const State& state);

    /// Whether no plan that goes on from the present decisions is better than one of a cost.
    bool is_hopeless(int64_t best);

    /// Whether none is if all other jobs start from a time on.
    bool is_hopeless_from(int64_t time, int64_t best);

    /// The cost of the started jobs, and of the last end among them.
    static int64_t cost(const State& state);

private:
    struct Share {
        int job;
        double slope;
        double energy;
        double ratio;
    };

    const State& state_;
    std::vector<int64_t> earliest_;  // start of each job that is not started
    std::vector<Share> shares_;

    const Problem& problem() const { return state_.problem; }

    bool is_too_dear(int64_t time, int64_t best);
    double by_energy(std::size_t g, int64_t time, int64_t last);
    std::pair<double, double> run_by_energy(std::size_t g, int64_t time) const;
};

}  // namespace hpcsched::postpone
