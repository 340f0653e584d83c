#include "reading/record_checks.hpp"

#include <algorithm>

namespace hpcsched {

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
    if (records.job_id[k] < 0 || submit_time < 0) return Verdict::no_number;
    if (!seen_.add(records.job_id[k])) return Verdict::repeated_number;
    if (submit_time < earliest_) return Verdict::unsorted;
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
