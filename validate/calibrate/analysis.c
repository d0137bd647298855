/* analysis.c - numbers out of samples. */
#include "validate/calibrate/analysis.h"

#include <math.h>
#include <stdlib.h>

#include "sim/base/error.h"
#include "sim/base/sort.h"

/* The sample at a share of the way, between its neighbours where it falls between them. */
static double quantile(const double *sorted, size_t count, double share)
{
    double rank = share * (double)(count - 1);
    size_t below = (size_t)rank;
    if (below + 1 >= count)
        return sorted[count - 1];
    return sorted[below] + (rank - (double)below) * (sorted[below + 1] - sorted[below]);
}

struct gt_bench_summary gt_summarise(double *samples, size_t count)
{
    if (count == 0)
        return (struct gt_bench_summary){ 0, 0, 0, 0 };
    qsort(samples, count, sizeof(*samples), gt_by_double);
    return (struct gt_bench_summary){ quantile(samples, count, 0.5), quantile(samples, count, 0.25),
                                      quantile(samples, count, 0.75), count };
}

void gt_summarise_halves(double *samples, size_t count, struct gt_bench_summary halves[2])
{
    gt_summarise(samples, count);
    for (size_t half = 0; half < 2; half++) {
        size_t first = half * (count / 2), end = half == 0 ? count / 2 : count;
        double sum = 0;
        for (size_t i = first; i < end; i++)
            sum += samples[i];
        halves[half] = gt_summarise(samples + first, end - first);
        halves[half].median = sum / (double)(end - first);
    }
}

struct gt_line gt_fit_line(const double *x, const double *y, size_t count, bool relative)
{
    double weights = 0, sum_x = 0, sum_y = 0, sum_xx = 0, sum_xy = 0;
    for (size_t i = 0; i < count; i++) {
        double unit = relative ? fmax(y[i], 1) : 1, weight = 1 / (unit * unit);
        weights += weight;
        sum_x += weight * x[i];
        sum_y += weight * y[i];
        sum_xx += weight * x[i] * x[i];
        sum_xy += weight * x[i] * y[i];
    }
    struct gt_line line = { .slope = (weights * sum_xy - sum_x * sum_y) / (weights * sum_xx - sum_x * sum_x) };
    line.base = (sum_y - line.slope * sum_x) / weights;
    if (line.base < 0) {
        line.base = 0;
        line.slope = sum_xy / sum_xx;
    }
    for (size_t i = 0; i < count; i++)
        line.worst = fmax(line.worst, fabs(line.base + line.slope * x[i] - y[i]) / fmax(y[i], 1));
    return line;
}

struct gt_clock_tie gt_clock_tie_of(uint64_t sent_ns, uint64_t gpu_ns, uint64_t received_ns)
{
    uint64_t middle_ns = sent_ns + (received_ns - sent_ns) / 2;
    return (struct gt_clock_tie){ gpu_ns, (int64_t)(middle_ns - gpu_ns), (int64_t)(received_ns - sent_ns + 1) / 2 };
}

double gt_clock_host_ns(const struct gt_clock_tie *before, const struct gt_clock_tie *after, uint64_t gpu_ns)
{
    double share = 0;
    if (after->gpu_ns != before->gpu_ns)
        share = (double)(int64_t)(gpu_ns - before->gpu_ns) / (double)(int64_t)(after->gpu_ns - before->gpu_ns);
    /* In integers first: the GPU's clock counts from 1970, too long for a double; the host's from the
     * machine's start. */
    return (double)(int64_t)(gpu_ns + (uint64_t)before->offset_ns) +
           share * (double)(after->offset_ns - before->offset_ns);
}

/* The starts and the ends of `count` stays, each sorted; malloced as one. */
static uint64_t *sorted_times(const struct gt_stay *stays, size_t count)
{
    uint64_t *times = gt_calloc(2 * count + 1, sizeof(*times));
    for (size_t i = 0; i < count; i++) {
        times[i] = stays[i].start_ns;
        times[count + i] = stays[i].end_ns;
    }
    qsort(times, count, sizeof(*times), gt_by_u64);
    qsort(times + count, count, sizeof(*times), gt_by_u64);
    return times;
}

size_t gt_most_at_once(const struct gt_stay *stays, size_t count)
{
    uint64_t *starts = sorted_times(stays, count), *ends = starts + count;
    size_t most = 0;
    for (size_t i = 0, ended = 0; i < count; i++) {
        while (ended < count && ends[ended] <= starts[i])
            ended++;
        if (i + 1 - ended > most)
            most = i + 1 - ended;
    }
    free(starts);
    return most;
}

static int by_sm(const void *a, const void *b)
{
    const struct gt_stay *left = a, *right = b;
    return (left->sm > right->sm) - (left->sm < right->sm);
}

static size_t refill_gaps_of_sm(const struct gt_stay *stays, size_t count, double *gaps_ns)
{
    uint64_t *starts = sorted_times(stays, count), *ends = starts + count;
    size_t slots = 0, gaps = 0;
    while (slots < count && starts[slots] < ends[0])
        slots++;
    for (size_t i = slots; i < count; i++)
        if (starts[i] >= ends[i - slots])
            gaps_ns[gaps++] = (double)(starts[i] - ends[i - slots]);
    free(starts);
    return gaps;
}

size_t gt_refill_gaps(struct gt_stay *stays, size_t count, double *gaps_ns)
{
    size_t gaps = 0;
    qsort(stays, count, sizeof(*stays), by_sm);
    for (size_t first = 0, next; first < count; first = next) {
        for (next = first; next < count && stays[next].sm == stays[first].sm;)
            next++;
        gaps += refill_gaps_of_sm(stays + first, next - first, gaps_ns + gaps);
    }
    return gaps;
}
