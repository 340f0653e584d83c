#pragma once

#include "core/state.hpp"

namespace hpcsched {

/// Return the end, after now, of a job that has outlived its prediction.
int64_t corrected_end(const Job& job, int64_t now, Correction correction);

/// Return the running rows that have outlived their prediction and all corrections.
Numbers outlived(const State& state);

/// The running rows by the end that rules see. Jobs that have outlived their prediction get a
/// corrected one. Valid until a job starts or ends.
class RunningByEnd {
public:
    explicit RunningByEnd(State& state);
    RunningByEnd(const RunningByEnd&) = delete;
    RunningByEnd& operator=(const RunningByEnd&) = delete;

    const int64_t* begin() const { return rows_.begin(); }
    const int64_t* end() const { return rows_.end(); }
    int64_t size() const { return rows_.size(); }
    int64_t operator[](int64_t k) const { return rows_[k]; }

private:
    Numbers corrected_;  // the same where a job is overdue
    View<const int64_t> rows_;
};

}  // namespace hpcsched
