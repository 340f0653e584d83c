#include "core/steps.hpp"

#include <algorithm>

namespace hpcsched {

void Steps::begin_step(int64_t time)
{
    if (start_.back() == time) return;
    start_.push_back(time);
    free_.push_back(free_.back());
}

/// Return the first step that begins at a time or later.
int64_t Steps::first_from(int64_t time) const
{
    return std::lower_bound(start_.begin(), start_.end(), time) - start_.begin();
}

/// Split the step before number `at`, so that one begins at `time`.
void Steps::split(int64_t at, int64_t time)
{
    const int64_t free = free_[at - 1];
    start_.insert(start_.begin() + at, time);
    free_.insert(free_.begin() + at, free);
}

int64_t Steps::steps_within(int64_t end, int64_t amount) const
{
    int64_t k = 0;
    for (; k < size() && start_[k] < end; ++k)
        if (free_[k] < amount) return 0;
    return k;
}

void Steps::take_steps(int64_t first, int64_t last, int64_t end, int64_t amount)
{
    if (last == size() || start_[last] != end) split(last, end);
    for (int64_t k = first; k < last; ++k) free_[k] -= amount;
}

int64_t Steps::least(int64_t begin, int64_t end) const
{
    int64_t k = first_from(begin + 1) - 1;
    int64_t found = free_[k];
    for (; k < size() && start_[k] < end; ++k) found = std::min(found, free_[k]);
    return found;
}

void Steps::take(int64_t begin, int64_t end, int64_t amount)
{
    const int64_t first = first_from(begin);
    if (first == size() || start_[first] != begin) split(first, begin);
    take_steps(first, first_from(end), end, amount);
}

Steps::Gap Steps::earliest(int64_t release, int64_t run_time, int64_t amount) const
{
    const int64_t count = size();
    int64_t first = release > start_[0] ? first_from(release + 1) - 1 : 0;
    while (true) {
        while (first < count && free_[first] < amount) ++first;
        if (first == count) return {never, count, count};
        const int64_t begin = std::max(start_[first], release), end = begin + run_time;
        int64_t last = first + 1;
        while (last < count && start_[last] < end && free_[last] >= amount) ++last;
        if (last == count || start_[last] >= end) return {begin, first, last};
        // Step `last` has too little, so no start up to its end can do.
        first = last + 1;
    }
}

int64_t Steps::reserve(int64_t release, int64_t run_time, int64_t amount)
{
    const Gap gap = earliest(release, run_time, amount);
    if (gap.begin == never) return never;
    take_steps(gap.first, gap.last, gap.begin + run_time, amount);
    if (start_[gap.first] != gap.begin) {  // the part before `begin` gets it back
        split(gap.first + 1, gap.begin);
        free_[gap.first] += amount;
    }
    return gap.begin;
}

}  // namespace hpcsched
