#pragma once

#include <cstdint>
#include <map>

namespace hpcsched {

/// A set of whole numbers that are mostly consecutive, as runs of consecutive numbers.
class NumbersSeen {
public:
    bool contains(int64_t number) const;

    /// Add a number; return false if it was there already.
    bool add(int64_t number) { return add_run(number, number); }

    /// Add the numbers from `first` to `last`; return false if one was there already.
    bool add_run(int64_t first, int64_t last);

private:
    std::map<int64_t, int64_t> last_by_first_;
};

}  // namespace hpcsched
