#include "replay/futures.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

#include "replay/event_loop.hpp"

namespace hpcsched {

namespace {

/// Real seconds after which a future pauses, so that what is written does not pile up.
constexpr double pause_after = 60.0;

void replay_future(const State& state, const Futures& futures, int64_t number,
                   View<int64_t> starts, std::mutex& mutex)
{
    State future(state);
    future.sought = {Numbers(futures.wanted.begin(), futures.wanted.end()),
                     Numbers(static_cast<size_t>(futures.wanted.size()), -1),
                     futures.wanted.size()};
    set_run_times(future, futures.rows, futures.run_times.row(number));
    static const Hooks none_asked;
    for (int64_t k = 0;;) {
        const Pause pause = advance(future, none_asked, pause_after);
        if (pause == Pause::over || pause == Pause::found) break;
        future.output.clear();
        if (pause == Pause::time_up) continue;
        const std::lock_guard lock(mutex);
        begin_batch(future, futures.later(number, k++));
    }
    std::ranges::copy(future.sought.starts, starts.begin());
}

}  // namespace

void set_run_times(State& state, View<const int64_t> rows, View<const int64_t> run_times)
{
    for (int64_t k = 0; k < rows.size(); ++k) {
        Job& job = state.jobs[rows[k]];
        job.run_time = run_times[k];
        if (job.waits == 0 && job.preemptor == none)
            job.end = std::max(job.start + job.suspended + state.checkpoints.run_time(job),
                               state.now() + 1);
    }
    // Rows in order of their ends are a heap.
    const View<int64_t> ends = state.ends.first(state.counters.running);
    std::ranges::sort(ends, {}, [&](int64_t row) {
        return std::pair(state.jobs[row].end, state.jobs[row].number);
    });
}

Table<int64_t> future_starts(const State& state, const Futures& futures, int64_t threads)
{
    const int64_t count = futures.run_times.rows();
    Table<int64_t> starts(count, futures.wanted.size());
    std::atomic<int64_t> next = 0;
    std::mutex mutex;
    std::exception_ptr error;
    int64_t ended = 0;
    const auto work = [&] {
        try {
            for (int64_t number = next++; number < count; number = next++) {
                replay_future(state, futures, number, starts.row(number), mutex);
                const std::lock_guard lock(mutex);
                futures.ended(++ended);
            }
        } catch (...) {
            next = count;
            const std::lock_guard lock(mutex);
            if (!error) error = std::current_exception();
        }
    };
    {
        std::vector<std::jthread> others;
        for (int64_t k = 1; k < std::min(threads, count); ++k) others.emplace_back(work);
        work();
    }
    if (error) std::rethrow_exception(error);
    return starts;
}

}  // namespace hpcsched
