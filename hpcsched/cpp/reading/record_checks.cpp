#include "reading/record_checks.hpp"

#include <algorithm>

namespace hpcsched {

namespace {

/// Numbers of parts of jobs, such as tasks of an array, have that of the job in their last digits.
constexpr int64_t jobs = 1'000'000'000;

/// Return the number of a part as it stands in a set: parts of a job follow one another there.
int64_t part_key(int64_t number)
{
    return number % jobs * jobs + number / jobs;
}

}  // namespace

bool RecordChecks::has_job(int64_t number) const
{
    return number < jobs ? seen_.contains(number) : parts_seen_.contains(part_key(number));
}

void RecordChecks::add_job(int64_t number)
{
    if (number < jobs)
        seen_.add(number);
    else
        parts_seen_.add(part_key(number));
}

void RecordChecks::check(const Records& records)
{
    for (int64_t k = 0; k < records.verdicts.size(); ++k)
        records.verdicts[k] = static_cast<int8_t>(check_record(records, k));
}

Verdict RecordChecks::check_record(const Records& records, int64_t k)
{
    const auto given = static_cast<Verdict>(records.verdicts[k]);
    const int64_t submit_time = records.submit_time[k];
    int64_t& run_time = records.run_time[k];
    int64_t& requested_time = records.requested_time[k];
    if (given == Verdict::no_record) return given;
    const int64_t number = records.job_id[k];
    if (number < 0 || submit_time < 0) return Verdict::no_number;
    if (policies_.numbers_jobs) {
        if (has_job(number)) {
            if (!policies_.renumber_from) return Verdict::repeated_number;
            records.job_id[k] = *policies_.renumber_from + renumbered_++;
        }
    } else if (!seen_.add(number)) {
        return Verdict::repeated_number;
    }
    if (submit_time < earliest_) return Verdict::unsorted;
    if (given == Verdict::missing_run_time) return given;
    if (run_time < 0) return Verdict::missing_run_time;
    if (run_time == 0 && policies_.skips_zero_run_time) return Verdict::zero_run_time;
    if (given == Verdict::missing_processors) return given;
    if (requested_time <= 0) {
        if (!policies_.missing_requested_time) return Verdict::missing_requested_time;
        requested_time = *policies_.missing_requested_time;
        if (requested_time == 0) requested_time = run_time;
    }
    if (given == Verdict::refused_request) return given;
    if (policies_.clips && run_time > requested_time) {
        run_time = requested_time;
        records.cut[k] = true;
    }
    if (!holds_times(records, k)) return Verdict::too_long;
    if (!policies_.sorts) earliest_ = submit_time;
    if (policies_.numbers_jobs) add_job(number);
    return Verdict::job;
}

bool RecordChecks::holds_times(const Records& records, int64_t k)
{
    const int64_t lasting = std::max(records.run_time[k], records.requested_time[k]);
    const int64_t submit_time = records.submit_time[k], think_time = records.think_time[k];
    if (std::max({submit_time, lasting, think_time}) > policies_.longest) return false;
    const int64_t sum = sum_ + lasting + think_time;
    if (submit_time + sum > policies_.largest_sum) return false;
    sum_ = sum;
    return true;
}

}  // namespace hpcsched
