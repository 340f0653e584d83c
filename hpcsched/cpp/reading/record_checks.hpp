#pragma once

#include <optional>

#include "core/views.hpp"
#include "reading/numbers_seen.hpp"

namespace hpcsched {

/// What becomes of a record of a log: a job, or the first reason why it is none.
enum class Verdict : int8_t {
    job,
    no_record,
    no_number,
    repeated_number,
    unsorted,
    missing_run_time,
    zero_run_time,
    missing_processors,
    missing_requested_time,
    refused_request,
    too_long,
};

struct RecordPolicies {
    bool sorts = false;
    bool skips_zero_run_time = true;
    bool clips = true;
    /// Replacement for a requested time that is not given: a time, 0 for the run time, or none.
    std::optional<int64_t> missing_requested_time;
    /// Bounds on each time of a job, and on the sum of those of all jobs.
    int64_t longest = 0;
    int64_t largest_sum = 0;
    /// Whether only jobs have numbers of their own, and records without a job may repeat them.
    bool numbers_jobs = false;
    /// First number for jobs whose number another job has; none: they give no job.
    std::optional<int64_t> renumber_from;
};

/// Records as columns, `[L]`: -1 where a number is not given.
struct Records {
    View<const int64_t> submit_time, think_time;
    View<int64_t> job_id, run_time, requested_time;
    /// Verdicts on each record by itself, which hold at their place among the checks; changed into
    /// those on the record.
    View<int8_t> verdicts;
    /// Receives whether the run time of a job was cut to the requested time.
    View<bool> cut;
};

/// Checks of the records of a log in their order, and what one record means for those after it.
class RecordChecks {
public:
    explicit RecordChecks(const RecordPolicies& policies) : policies_(policies) {}

    /// Submit time that the next job has at least.
    int64_t earliest() const { return earliest_; }
    /// Sum of the times of the jobs so far.
    int64_t sum() const { return sum_; }

    void check(const Records& records);

private:
    RecordPolicies policies_;
    NumbersSeen seen_, parts_seen_;
    int64_t renumbered_ = 0;
    int64_t earliest_ = 0;
    int64_t sum_ = 0;

    Verdict check_record(const Records& records, int64_t k);
    bool has_job(int64_t number) const;
    void add_job(int64_t number);
    bool holds_times(const Records& records, int64_t k);
};

}  // namespace hpcsched
