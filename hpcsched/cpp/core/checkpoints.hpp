#pragma once

#include <algorithm>

#include "core/job.hpp"

namespace hpcsched {

/// Checkpoints of jobs: one after each `every` seconds of work, but none at the end. An attempt that
/// begins at a checkpoint reads it first.
struct Checkpoints {
    int64_t every = 0;  // 0: there are none
    int64_t cost = 0;  // seconds to write one
    int64_t restart = 0;  // seconds to read one

    /// Return the seconds that an attempt takes to the end of the job.
    int64_t run_time(const Job& job) const
    {
        return begins_after(job) + job.run_time - job.done + count(job) * cost;
    }

    /// Return the seconds of work that an attempt has saved after some seconds.
    int64_t saved(const Job& job, int64_t elapsed) const
    {
        if (every == 0) return 0;
        const int64_t written = (elapsed - begins_after(job)) / (every + cost);
        return std::clamp(written, int64_t{0}, count(job)) * every;
    }

private:
    int64_t begins_after(const Job& job) const { return job.done == 0 ? 0 : restart; }

    /// Number of checkpoints that an attempt writes.
    int64_t count(const Job& job) const
    {
        return every == 0 ? 0 : std::max(job.run_time - job.done - 1, int64_t{0}) / every;
    }
};

}  // namespace hpcsched
