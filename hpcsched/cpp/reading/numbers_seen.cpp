#include "reading/numbers_seen.hpp"

#include <algorithm>
#include <iterator>

namespace hpcsched {

bool NumbersSeen::contains(int64_t number) const
{
    const auto after = last_by_first_.upper_bound(number);
    return after != last_by_first_.begin() && number <= std::prev(after)->second;
}

bool NumbersSeen::add_run(int64_t first, int64_t last)
{
    bool is_new = true;
    auto run = last_by_first_.upper_bound(first);
    if (run != last_by_first_.begin() && std::prev(run)->second >= first - 1) --run;
    // All runs that overlap or touch the new one become part of it.
    while (run != last_by_first_.end() && run->first <= last + 1) {
        is_new &= run->second < first || run->first > last;
        first = std::min(first, run->first);
        last = std::max(last, run->second);
        // The common case: the last run grows by the next number.
        if (run->first == first && std::next(run) == last_by_first_.end()) {
            run->second = last;
            return is_new;
        }
        run = last_by_first_.erase(run);
    }
    last_by_first_.emplace_hint(run, first, last);
    return is_new;
}

}  // namespace hpcsched
