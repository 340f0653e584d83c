#pragma once

#include "core/views.hpp"

namespace hpcsched {

/// Free amount of one resource from now on, where nodes need not be distinguished.
///
/// `free(k)` is free from `start(k)` to before `start(k + 1)`, and the last for ever.
class Steps {
public:
    struct Gap {
        int64_t begin;  // `never` if there is none
        int64_t first;  // first step reached
        int64_t last;  // first step after it
    };

    Steps() = default;
    Steps(int64_t now, int64_t free) : start_{now}, free_{free} {}

    int64_t size() const { return static_cast<int64_t>(start_.size()); }
    int64_t start(int64_t k) const { return start_[k]; }
    int64_t free(int64_t k) const { return free_[k]; }

    /// Append a step at a time, unless the last one begins then; times ascend.
    void begin_step(int64_t time);

    /// Add to what is free in the last step.
    void add_to_last(int64_t amount) { free_.back() += amount; }

    /// Return the number of steps that begin before `end`; 0 if one has too little.
    int64_t steps_within(int64_t end, int64_t amount) const;

    /// Take an amount from step `first` to the time `end`, which is in or with the step before
    /// `last`.
    void take_steps(int64_t first, int64_t last, int64_t end, int64_t amount);

    /// Return the minimum free amount from `begin` to before `end`.
    int64_t least(int64_t begin, int64_t end) const;

    /// Take an amount from `begin` to `end`; a negative one is given back.
    void take(int64_t begin, int64_t end, int64_t amount);

    /// Return the earliest gap from `release` on in which an amount stays free for a run time.
    Gap earliest(int64_t release, int64_t run_time, int64_t amount) const;

    /// Take an amount at the earliest such time, which is returned.
    int64_t reserve(int64_t release, int64_t run_time, int64_t amount);

private:
    Numbers start_;
    Numbers free_;

    int64_t first_from(int64_t time) const;
    void split(int64_t at, int64_t time);
};

}  // namespace hpcsched
