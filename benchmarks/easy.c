/* EASY backfilling of one resource type, by itself: the yardstick of core.py.

   Reads from standard input the number of processors, the number of jobs, and for each job, in order
   of submission, its submit time, run time, requested time and processors. Replays them so many
   times, as the first argument says, and prints the least processor time of a replay in seconds, the
   number of rounds, and the sum of all start times. A job ends at its run time; decisions see its
   requested time. */

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct {
    long submit, run, requested;
    int processors;
} Job;

/* Jobs by a time of theirs, the last one first, so that the next end is dropped at once. */
typedef struct {
    long *time;
    int *job;
    int count;
} Line;

static Job *jobs;
static long *start;
static int job_count, processors, *queue;
static Line by_end, by_requested_end;

static double processor_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The first place whose time is below `time`. */
static int place_of(const Line *line, long time)
{
    int low = 0, high = line->count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (line->time[middle] >= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void insert(Line *line, long time, int job)
{
    int at = place_of(line, time), after = line->count++ - at;
    memmove(line->time + at + 1, line->time + at, (size_t)after * sizeof *line->time);
    memmove(line->job + at + 1, line->job + at, (size_t)after * sizeof *line->job);
    line->time[at] = time;
    line->job[at] = job;
}

static void drop(Line *line, long time, int job)
{
    int at = place_of(line, time) - 1;
    while (line->job[at] != job) --at;
    int after = --line->count - at;
    memmove(line->time + at, line->time + at + 1, (size_t)after * sizeof *line->time);
    memmove(line->job + at, line->job + at + 1, (size_t)after * sizeof *line->job);
}

static void begin(int job, long now, int *free)
{
    start[job] = now;
    *free -= jobs[job].processors;
    insert(&by_end, now + jobs[job].run, job);
    insert(&by_requested_end, now + jobs[job].requested, job);
}

/* Start jobs behind the one at the head, which has to wait; return how many are left. */
static int backfill(int queued, long now, int *free)
{
    int shadow = by_requested_end.count, spare = *free - jobs[queue[0]].processors;
    while (spare < 0) spare += jobs[by_requested_end.job[--shadow]].processors;
    long time = by_requested_end.time[shadow];
    while (shadow > 0 && by_requested_end.time[shadow - 1] == time)
        spare += jobs[by_requested_end.job[--shadow]].processors;
    int kept = 1, k = 1;
    for (; k < queued && *free > 0; ++k) {
        const Job *job = jobs + queue[k];
        int is_long = now + job->requested > time;
        if (job->processors > *free || (is_long && job->processors > spare)) {
            queue[kept++] = queue[k];
            continue;
        }
        if (is_long) spare -= job->processors;
        begin(queue[k], now, free);
    }
    memmove(queue + kept, queue + k, (size_t)(queued - k) * sizeof *queue);
    return kept + queued - k;
}

static long replay(void)
{
    int next = 0, queued = 0, free = processors;
    long rounds = 0;
    while (next < job_count || by_end.count > 0) {
        long now = LONG_MAX;
        if (next < job_count) now = jobs[next].submit;
        if (by_end.count > 0 && by_end.time[by_end.count - 1] < now)
            now = by_end.time[by_end.count - 1];
        while (by_end.count > 0 && by_end.time[by_end.count - 1] == now) {
            int job = by_end.job[--by_end.count];
            free += jobs[job].processors;
            drop(&by_requested_end, start[job] + jobs[job].requested, job);
        }
        while (next < job_count && jobs[next].submit == now) queue[queued++] = next++;
        if (queued == 0) continue;
        ++rounds;
        int head = 0;
        while (head < queued && jobs[queue[head]].processors <= free)
            begin(queue[head++], now, &free);
        queued -= head;
        memmove(queue, queue + head, (size_t)queued * sizeof *queue);
        if (queued > 1 && free > 0) queued = backfill(queued, now, &free);
    }
    return rounds;
}

static void *array(size_t size)
{
    void *made = calloc((size_t)job_count + 1, size);
    if (made == NULL) exit(1);
    return made;
}

int main(int count, char **arguments)
{
    if (scanf("%d %d", &processors, &job_count) != 2) return 1;
    jobs = array(sizeof *jobs);
    start = array(sizeof *start);
    queue = array(sizeof *queue);
    by_end.time = array(sizeof *by_end.time);
    by_end.job = array(sizeof *by_end.job);
    by_requested_end.time = array(sizeof *by_end.time);
    by_requested_end.job = array(sizeof *by_end.job);
    for (int k = 0; k < job_count; ++k) {
        Job *job = jobs + k;
        if (scanf("%ld %ld %ld %d", &job->submit, &job->run, &job->requested, &job->processors) != 4)
            return 1;
    }
    double least = 1e9;
    long rounds = 0, sum = 0;
    for (int times = count > 1 ? atoi(arguments[1]) : 1; times > 0; --times) {
        double began = processor_seconds();
        rounds = replay();
        double took = processor_seconds() - began;
        if (took < least) least = took;
    }
    for (int k = 0; k < job_count; ++k) sum += start[k];
    printf("%.6f %ld %ld\n", least, rounds, sum);
    return 0;
}
