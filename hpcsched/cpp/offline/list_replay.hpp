#pragma once

#include <algorithm>
#include <map>

#include "core/steps.hpp"

namespace hpcsched {

/// Write the starts of list scheduling on-line where all jobs ask for equal units: in each round
/// every waiting job is planned anew, and those start that can start now. It is `list` with the
/// option `backfill` and no limit on depth, for an order that does not change with time. Jobs are
/// numbered in order of submission; `rank` is the place of each in the queue order.
inline void replay_list(View<const int64_t> rank, View<const int64_t> submit,
                        View<const int64_t> demands, View<const int64_t> run_times,
                        int64_t capacity, View<int64_t> starts)
{
    std::multimap<int64_t, int64_t> running;  // slots by end
    Numbers queue;  // by rank
    const int64_t count = submit.size();
    int64_t upcoming = 0, available = capacity;
    while (upcoming < count || !running.empty()) {
        int64_t now = upcoming < count ? submit[upcoming] : never;
        if (!running.empty()) now = std::min(now, running.begin()->first);
        for (; !running.empty() && running.begin()->first == now; running.erase(running.begin()))
            available += running.begin()->second;
        for (; upcoming < count && submit[upcoming] == now; ++upcoming)
            queue.insert(std::ranges::upper_bound(queue, rank[upcoming], std::ranges::less{},
                                                  [&](int64_t job) { return rank[job]; }),
                         upcoming);
        Steps steps(now, available);
        for (const auto& [end, slots] : running) {
            steps.begin_step(end);
            steps.add_to_last(slots);
        }
        // Only a job that would fit now can start, and what is free now only shrinks.
        size_t last = queue.size(), left = 0, k = 0;
        while (k < queue.size()) {
            while (last > k && demands[queue[last - 1]] > steps.free(0)) --last;
            if (last <= k) break;
            const int64_t job = queue[k++];
            if (steps.reserve(now, run_times[job], demands[job]) != now) {
                queue[left++] = job;
                continue;
            }
            starts[job] = now;
            available -= demands[job];
            running.emplace(now + run_times[job], demands[job]);
        }
        queue.erase(queue.begin() + static_cast<int64_t>(left),
                    queue.begin() + static_cast<int64_t>(k));
    }
}

}  // namespace hpcsched
