#pragma once

#include <cstdint>
#include <unordered_map>

namespace hpcsched {

/// Expected run times of jobs, as shares of their predictions, from the jobs that have ended.
///
/// Jobs are alike at levels: class of the predicted run time (its number of bits); user; user and
/// prediction. The mean share of each level is an average that decays with each job, and is shrunk
/// toward that of the level before; the first is shrunk toward 1.
class ExpectedRunTimes {
public:
    /// Learn from a job that has ended. A run time above the prediction counts as the prediction.
    void learn(int64_t user, int64_t predicted, int64_t run_time);

    /// Return the expected run time of a job as a share of its prediction, above 0 and at most 1.
    /// It is 1 before anything is learnt, and where all predictions were exact.
    double share(int64_t user, int64_t predicted) const;

    /// Return the expected run time in whole seconds, at least 1.
    int64_t expected(int64_t user, int64_t predicted) const;

private:
    struct Level {
        int64_t user;
        int64_t predicted;

        bool operator==(const Level&) const = default;
    };
    struct Hash {
        std::size_t operator()(const Level& level) const;
    };
    struct Average {
        double weight = 0.0;  // number of jobs, of which earlier ones count less
        double sum = 0.0;  // of their shares
    };

    std::unordered_map<Level, Average, Hash> averages_;

    template <class Function>
    static void for_each_level(int64_t user, int64_t predicted, Function function);
};

}  // namespace hpcsched
