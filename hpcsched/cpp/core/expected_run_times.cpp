#include "core/expected_run_times.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace hpcsched {

namespace {

/// Factor of the weight of all earlier jobs at each new one.
constexpr double decay = 0.95;

/// Number of jobs that the average of the level before counts for.
constexpr double prior_weight = 2.0;

/// Users: no number is below -1, which stands for unknown ones.
constexpr int64_t any_user = -2;

}  // namespace

std::size_t ExpectedRunTimes::Hash::operator()(const Level& level) const
{
    uint64_t hash = 0;
    for (const int64_t number : {level.user, level.predicted}) {
        hash = (hash ^ static_cast<uint64_t>(number)) * 0x9e3779b97f4a7c15;
        hash ^= hash >> 32;
    }
    return hash;
}

/// Call a function with the levels of a job, the coarsest first. Predictions are 1 or more, so that
/// 0 stands for any.
template <class Function>
void ExpectedRunTimes::for_each_level(int64_t user, int64_t predicted, Function function)
{
    const int bits = std::bit_width(static_cast<uint64_t>(predicted));
    function(Level{any_user, bits});
    // Jobs of unknown users are no one user's.
    if (user >= 0) function(Level{user, 0});
    function(Level{user, predicted});
}

void ExpectedRunTimes::learn(int64_t user, int64_t predicted, int64_t run_time)
{
    // A job without run time is predicted to run for a second.
    const double share = static_cast<double>(std::clamp<int64_t>(run_time, 1, predicted)) /
                         static_cast<double>(predicted);
    for_each_level(user, predicted, [&](const Level& level) {
        Average& average = averages_[level];
        average.weight = decay * average.weight + 1.0;
        average.sum = decay * average.sum + share;
    });
}

double ExpectedRunTimes::share(int64_t user, int64_t predicted) const
{
    double mean = 1.0;
    for_each_level(user, predicted, [&](const Level& level) {
        const auto found = averages_.find(level);
        if (found == averages_.end()) return;
        const Average& average = found->second;
        mean = (average.sum + prior_weight * mean) / (average.weight + prior_weight);
    });
    return mean;
}

int64_t ExpectedRunTimes::expected(int64_t user, int64_t predicted) const
{
    const double seconds = share(user, predicted) * static_cast<double>(predicted);
    return std::max<int64_t>(1, std::llround(seconds));
}

}  // namespace hpcsched
