#include "traces/explain/host_time.h"

#include <stdlib.h>

#include "sim/base/array.h"
#include "sim/base/error.h"
#include "sim/base/sort.h"

const char gt_host_outside[] = "host code outside operators";

/* Ranges of one thread that are open, outer ones first. */
struct open_ranges {
    uint32_t *ranges;
    size_t count, room;
};

struct marking {
    struct gt_loaded_run *run;
    size_t count, room;
    struct open_ranges open;
    gt_thread_index thread;
};

static bool counts(const struct gt_loaded_range *range)
{
    return !range->step && range->nested && range->start_ps != GT_TIME_NONE && range->end_ps > range->start_ps &&
           range->thread != GT_NONE;
}

/* A mark at the time of the last one of the thread takes its place. */
static void mark(struct marking *m, gt_time_ps from_ps, uint32_t range)
{
    struct gt_loaded_run *t = m->run;

    if (m->count > t->first_mark[m->thread] && t->marks[m->count - 1].from_ps == from_ps) {
        t->marks[m->count - 1].range = range;
        return;
    }
    gt_array_grow(t->marks, m->count, m->room);
    t->marks[m->count++] = (struct gt_host_mark){ from_ps, range };
}

/* Close what ends until then: the innermost first, whatever is still open of those outside of it. */
static void close_until(struct marking *m, gt_time_ps time_ps)
{
    const struct gt_loaded_range *ranges = m->run->ranges;
    struct open_ranges *open = &m->open;

    while (open->count > 0 && ranges[open->ranges[open->count - 1]].end_ps <= time_ps) {
        gt_time_ps end_ps = ranges[open->ranges[--open->count]].end_ps;

        while (open->count > 0 && ranges[open->ranges[open->count - 1]].end_ps <= end_ps)
            open->count--;
        mark(m, end_ps, open->count > 0 ? open->ranges[open->count - 1] : GT_NONE);
    }
}

/* By thread and start, the longer first, and of equal ones the outer, which has the lower number. */
static int by_start(const void *a, const void *b, void *user)
{
    const struct gt_loaded_range *ranges = user;
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    const struct gt_loaded_range *l = &ranges[left], *r = &ranges[right];

    if (l->thread != r->thread)
        return l->thread < r->thread ? -1 : 1;
    if (l->start_ps != r->start_ps)
        return l->start_ps < r->start_ps ? -1 : 1;
    if (l->end_ps != r->end_ps)
        return l->end_ps > r->end_ps ? -1 : 1;
    return (left > right) - (left < right);
}

void gt_host_time_find(struct gt_loaded_run *t)
{
    struct marking m = { .run = t };
    uint32_t *order = gt_calloc(t->range_count + 1ull, sizeof *order), count = 0, next = 0;

    t->first_mark = gt_calloc(t->thread_count + 1ull, sizeof *t->first_mark);
    for (uint32_t i = 0; i < t->range_count; i++)
        if (counts(&t->ranges[i]))
            order[count++] = i;
    if (count > 0)
        qsort_r(order, count, sizeof *order, by_start, t->ranges);
    for (m.thread = 0; m.thread < t->thread_count; m.thread++) {
        t->first_mark[m.thread] = (uint32_t)m.count;
        for (; next < count && t->ranges[order[next]].thread == m.thread; next++) {
            close_until(&m, t->ranges[order[next]].start_ps);
            mark(&m, t->ranges[order[next]].start_ps, order[next]);
            gt_array_grow(m.open.ranges, m.open.count, m.open.room);
            m.open.ranges[m.open.count++] = order[next];
        }
        close_until(&m, GT_TIME_NONE);
    }
    t->first_mark[t->thread_count] = (uint32_t)m.count;
    free(m.open.ranges);
    free(order);
}

/* The thread's last mark at the time or before, as a place among all marks; GT_NONE where there is none. */
static uint32_t mark_at(const struct gt_loaded_run *t, gt_thread_index thread, gt_time_ps time_ps)
{
    uint32_t low = t->first_mark[thread], high = t->first_mark[thread + 1], first = low;

    low = GT_LOWER_BOUND(middle, low, high, t->marks[middle].from_ps <= time_ps);
    return low > first ? low - 1 : GT_NONE;
}

/* The first of the thread's calls that ends behind the time, as a place among thread_calls. */
static uint32_t call_behind(const struct gt_loaded_run *t, gt_thread_index thread, gt_time_ps time_ps)
{
    uint32_t low = GT_LOWER_BOUND(middle, t->thread_first[thread], t->thread_first[thread + 1],
                                  t->calls[t->thread_calls[middle]].end_ps <= time_ps);
    return low;
}

static gt_time_ps earlier(gt_time_ps a, gt_time_ps b)
{
    return a < b ? a : b;
}

/* A process has few threads that ask for work; more are not looked at. */
enum { THREADS_TRIED = 64 };

/* A walk over one thread, and what is to be done with the pieces. */
struct walk {
    const struct gt_loaded_run *run;
    gt_host_piece_fn *each;
    void *user;
    gt_thread_index asked; /* whose stretch it is */
    gt_thread_index next;  /* the thread to try where this one does nothing */
    uint32_t tried;        /* threads so far */
};

static void walk_thread(const struct walk *walk, gt_thread_index thread, gt_time_ps from_ps, gt_time_ps to_ps);

/* The first thread of the process from `next` on with anything known of it, but for the one asked. */
static gt_thread_index next_thread(const struct walk *walk)
{
    const struct gt_loaded_run *t = walk->run;
    gt_thread_index thread = walk->next;

    while (thread < t->thread_count && (thread == walk->asked || t->processes[thread] != t->processes[walk->asked] ||
                                        (t->first_mark[thread] == t->first_mark[thread + 1] &&
                                         t->thread_first[thread] == t->thread_first[thread + 1])))
        thread++;
    return thread;
}

static void take_piece(const struct walk *walk, struct gt_host_piece piece)
{
    struct walk inner = *walk;

    if (piece.range == GT_NONE && piece.call == GT_NONE) {
        inner.next = next_thread(walk);
        if (inner.next < walk->run->thread_count && inner.tried++ < THREADS_TRIED) {
            gt_thread_index thread = inner.next++;

            walk_thread(&inner, thread, piece.from_ps, piece.to_ps);
            return;
        }
        piece.thread = walk->asked;
    }
    walk->each(walk->user, &piece);
}

static void walk_thread(const struct walk *walk, gt_thread_index thread, gt_time_ps from_ps, gt_time_ps to_ps)
{
    const struct gt_loaded_run *t = walk->run;
    uint32_t at = mark_at(t, thread, from_ps), behind_mark = t->first_mark[thread + 1];
    uint32_t next_mark = at == GT_NONE ? t->first_mark[thread] : at + 1;
    uint32_t call = call_behind(t, thread, from_ps), end_call = t->thread_first[thread + 1];

    while (from_ps < to_ps) {
        const struct gt_loaded_call *c = call < end_call ? &t->calls[t->thread_calls[call]] : NULL;
        bool inside = c != NULL && c->start_ps <= from_ps && c->end_ps > from_ps;
        struct gt_host_piece piece = { from_ps, to_ps, thread, at == GT_NONE ? GT_NONE : t->marks[at].range,
                                       inside ? t->thread_calls[call] : GT_NONE };

        if (next_mark < behind_mark)
            piece.to_ps = earlier(piece.to_ps, t->marks[next_mark].from_ps);
        if (c != NULL && c->end_ps > from_ps)
            piece.to_ps = earlier(piece.to_ps, inside ? c->end_ps : c->start_ps);
        if (piece.to_ps > from_ps)
            take_piece(walk, piece);
        from_ps = piece.to_ps;
        if (next_mark < behind_mark && t->marks[next_mark].from_ps <= from_ps)
            at = next_mark++;
        while (call < end_call && t->calls[t->thread_calls[call]].end_ps <= from_ps)
            call++;
    }
}

void gt_host_pieces(const struct gt_loaded_run *t, gt_thread_index thread, gt_time_ps from_ps, gt_time_ps to_ps,
                    gt_host_piece_fn *each, void *user)
{
    struct walk walk = { .run = t, .each = each, .user = user, .asked = thread };

    walk_thread(&walk, thread, from_ps, to_ps);
}

struct longest {
    gt_time_ps ps;
    uint32_t range;
};

static void keep_longest(void *user, const struct gt_host_piece *piece)
{
    struct longest *longest = user;

    if (piece->to_ps - piece->from_ps > longest->ps)
        *longest = (struct longest){ piece->to_ps - piece->from_ps, piece->range };
}

uint32_t gt_host_range_of(const struct gt_loaded_run *t, gt_thread_index thread, gt_time_ps from_ps, gt_time_ps to_ps)
{
    struct longest longest = { 0, GT_NONE };

    gt_host_pieces(t, thread, from_ps, to_ps, keep_longest, &longest);
    return longest.range;
}

const char *gt_host_range_name(const struct gt_loaded_run *t, uint32_t range)
{
    return range == GT_NONE ? gt_host_outside : t->ranges[range].name;
}
