#include "sim/check/check.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/base/sort.h"
#include "sim/check/memory.h"
#include "sim/check/order.h"

const char *const gt_race_kind_names[GT_RACE_KINDS] = {
    [GT_RACE_READ_AFTER_WRITE] = "read-after-write",
    [GT_RACE_WRITE_AFTER_READ] = "write-after-read",
    [GT_RACE_WRITE_AFTER_WRITE] = "write-after-write",
};

struct checking {
    const struct gt_workload *w;
    struct gt_races *races;
    bool may; /* what may be done is taken to be done, and of races only those are told that need it */
    struct gt_memory_map *memory;
    struct gt_stamp *stamps;       /* by operation, */
    uint32_t *places, visited;     /* and the how many-th it is that the walk came to */
    struct gt_misuse_watch *watch; /* NULL: not now */
    uint32_t *race_of;             /* by buffer, the last one memory by address: the race last told; GT_NONE */
    gt_call_index *freed;          /* by buffer, the last call that gave it back; GT_NONE */
    uint32_t *first_alloc;         /* by buffer, one more: where its calls begin in `allocs` */
    gt_call_index *allocs;         /* calls that give buffers out, by buffer, in order */
    /* The access looked at. */
    gt_op_index op;
    const struct gt_line *line;
    const struct gt_buffer_access *access;
    uint32_t segments;
};

bool gt_check_knows(const struct gt_workload *w, gt_op_index index)
{
    const struct gt_op *op = &w->ops[index];
    bool reads = false, writes = false;

    for (uint32_t i = 0; i < op->accesses; i++) {
        if (w->accesses[op->first_access + i].possible)
            return false;
        reads |= !w->accesses[op->first_access + i].writes;
        writes |= w->accesses[op->first_access + i].writes;
    }
    if (op->kind != GT_OP_COPY)
        return reads || writes;
    return op->direction == GT_H2D ? writes : op->direction == GT_D2H ? reads : reads && writes;
}

static uint32_t *none(uint64_t count)
{
    uint32_t *array = gt_realloc(NULL, count + 1, sizeof *array);

    memset(array, 0xff, (count + 1) * sizeof *array);
    return array;
}

/* Is the buffer given out behind call `from` and before call `until`? */
static bool given_out(const struct checking *c, gt_buffer_index buffer, gt_call_index from, gt_call_index until)
{
    uint32_t low =
        GT_LOWER_BOUND(middle, c->first_alloc[buffer], c->first_alloc[buffer + 1], c->allocs[middle] <= from);
    return low < c->first_alloc[buffer + 1] && c->allocs[low] < until;
}

/* The call that gave the memory back between the two accesses, to be given out to the second; GT_NONE. */
static gt_call_index freed_between(const struct checking *c, const struct gt_memory_touch *first)
{
    gt_call_index call = first->buffer != GT_NONE ? c->freed[first->buffer] : GT_NONE, second = c->w->ops[c->op].call;

    if (call == GT_NONE || call < c->w->ops[first->op].call || c->access->buffer == GT_NONE)
        return GT_NONE;
    return given_out(c, c->access->buffer, call, second) ? call : GT_NONE;
}

static void find_allocs(struct checking *c)
{
    const struct gt_workload *w = c->w;

    c->first_alloc = gt_calloc(w->buffer_count + 2ull, sizeof *c->first_alloc);
    c->allocs = gt_calloc(w->call_count + 1ull, sizeof *c->allocs);
    for (gt_call_index i = 0; i < w->call_count; i++)
        if (w->calls[i].kind == GT_CALL_ALLOC)
            c->first_alloc[w->calls[i].buffer + 2]++;
    for (gt_buffer_index i = 0; i < w->buffer_count; i++)
        c->first_alloc[i + 2] += c->first_alloc[i + 1];
    for (gt_call_index i = 0; i < w->call_count; i++)
        if (w->calls[i].kind == GT_CALL_ALLOC)
            c->allocs[c->first_alloc[w->calls[i].buffer + 1]++] = i;
}

/* Bytes from `from` to before `to` of a memory. */
static void tell_race(struct checking *c, uint64_t from, uint64_t to, const struct gt_memory_touch *first,
                      enum gt_race_kind kind)
{
    gt_buffer_index buffer = c->access->buffer;
    uint32_t *told = &c->race_of[buffer != GT_NONE ? buffer : c->w->buffer_count];
    struct gt_races *all = c->races;
    const struct gt_buffer *b = buffer != GT_NONE ? &c->w->buffers[buffer] : NULL;
    uint64_t base = b != NULL && b->address != GT_ADDRESS_NONE ? b->address : 0;
    struct gt_race race = {
        .first = first->op,
        .second = c->op,
        .first_buffer = first->buffer,
        .buffer = buffer,
        .from = from > base ? from - base : 0,
        .to = to == UINT64_MAX ? UINT64_MAX : to - base,
        .kind = (uint8_t)kind,
        .freed = freed_between(c, first),
    };

    if (c->may && !c->access->possible && !first->possible)
        return;
    if (*told != GT_NONE && all->races[*told].second == c->op) {
        if (c->places[all->races[*told].first] < c->places[race.first])
            all->races[*told] = race;
        return;
    }
    gt_array_grow(all->races, all->count, all->room);
    *told = all->count;
    all->races[all->count++] = race;
}

static bool ordered(const struct checking *c, const struct gt_memory_touch *touch)
{
    return touch->op == c->op || gt_line_knows(c->line, c->stamps[touch->op]);
}

static void write_segment(void *user, struct gt_segment *segment)
{
    struct checking *c = user;

    c->segments++;
    if (segment->write.op == c->op)
        return;
    for (uint32_t i = 0; i < segment->read_count; i++)
        if (!ordered(c, &segment->reads[i]))
            tell_race(c, segment->from, segment->to, &segment->reads[i], GT_RACE_WRITE_AFTER_READ);
    if (segment->read_count == 0 && segment->write.op != GT_NONE && !ordered(c, &segment->write))
        tell_race(c, segment->from, segment->to, &segment->write, GT_RACE_WRITE_AFTER_WRITE);
    segment->write = (struct gt_memory_touch){ c->op, c->access->buffer, c->access->possible };
    segment->read_count = 0;
}

static void tell_read(void *user, const struct gt_memory_touch *write, uint64_t from, uint64_t to)
{
    tell_race(user, from, to, write, GT_RACE_READ_AFTER_WRITE);
}

static void read_range(struct checking *c, struct gt_memory_range range)
{
    struct gt_reading reading = { { c->op, c->access->buffer, c->access->possible }, c->line, tell_read, c };

    gt_memory_read(c->memory, range, &reading);
}

static void write_range(struct checking *c, struct gt_memory_range range)
{
    c->segments = 0;
    gt_memory_visit(c->memory, range, write_segment, c);
    if (c->segments > 1)
        gt_memory_merge(c->memory, range);
}

static void touch(struct checking *c, gt_op_index index, bool writes)
{
    const struct gt_op *op = &c->w->ops[index];

    for (uint32_t i = 0; i < op->accesses; i++) {
        const struct gt_buffer_access *access = &c->w->accesses[op->first_access + i];
        struct gt_memory_range range;

        if (access->writes != writes || (access->possible && !c->may))
            continue;
        c->access = access;
        if (c->watch != NULL && access->buffer != GT_NONE)
            gt_misuse_use(c->watch, index, access->buffer, c->line);
        range = gt_memory_of_access(c->memory, op, access);
        if (writes)
            write_range(c, range);
        else
            read_range(c, range);
    }
}

static void take_op(void *user, gt_op_index op, const struct gt_line *line, struct gt_stamp stamp)
{
    struct checking *c = user;

    c->op = op;
    c->line = line;
    c->stamps[op] = stamp;
    c->places[op] = c->visited++;
    touch(c, op, true);
    touch(c, op, false);
}

static void take_given_back(void *user, gt_call_index call, const struct gt_line *line)
{
    struct checking *c = user;

    c->freed[c->w->calls[call].buffer] = call;
    if (c->watch != NULL)
        gt_misuse_given_back(c->watch, call, line);
}

/* `misuses` NULL: what may be done counts, and nothing but races.  Returns how many waits had no known target. */
static uint64_t go_through(const struct gt_workload *w, struct gt_races *races, struct gt_misuses *misuses,
                           const gt_op_index *guesses)
{
    static const struct gt_step_visitor visitor = { take_op, take_given_back };
    struct gt_order *order = gt_order_new(w, guesses);
    uint64_t unknown_waits = gt_order_unknown_waits(order);
    /* clang-format off */
    struct checking c = {
        .w = w, .races = races, .may = misuses == NULL && guesses == NULL,
        .stamps = gt_calloc(w->op_count + 1ull, sizeof *c.stamps),
        .places = none(w->op_count), .race_of = none(w->buffer_count), .freed = none(w->buffer_count),
    };
    /* clang-format on */

    c.memory = gt_memory_new(w, c.stamps);
    find_allocs(&c);
    if (misuses != NULL)
        c.watch = gt_misuse_new(w, c.stamps, misuses);
    gt_order_walk(order, &visitor, &c);
    gt_order_free(order);
    gt_memory_end(c.memory);
    if (c.watch != NULL)
        gt_misuse_end(c.watch);
    free(c.stamps);
    free(c.places);
    free(c.race_of);
    free(c.freed);
    free(c.first_alloc);
    free(c.allocs);
    return unknown_waits;
}

static bool has_possible(const struct gt_workload *w)
{
    for (uint32_t i = 0; i < w->access_count; i++)
        if (w->accesses[i].possible)
            return true;
    return false;
}

static int by_second(const void *left, const void *right)
{
    const struct gt_race *a = left, *b = right;

    GT_ORDER(a->second, b->second);
    GT_ORDER(a->buffer, b->buffer);
    return 0;
}

/* Races that there are if waits of unknown target were for no more than their times show. */
static void look_behind_waits(struct gt_check *check, const struct gt_workload *w)
{
    const struct gt_races *certain = &check->certain;
    gt_op_index *guesses = gt_order_guesses(w);
    struct gt_races races = { .count = 0 };
    struct gt_race *known = gt_calloc(certain->count + 1ull, sizeof *known);

    go_through(w, &races, NULL, guesses);
    if (certain->count > 0) {
        memcpy(known, certain->races, certain->count * sizeof *known);
        qsort(known, certain->count, sizeof *known, by_second);
    }
    for (uint32_t i = 0; i < races.count; i++) {
        struct gt_races *possible = &check->possible;

        if (bsearch(&races.races[i], known, certain->count, sizeof *known, by_second) != NULL)
            continue;
        gt_array_grow(possible->races, possible->count, possible->room);
        possible->races[possible->count] = races.races[i];
        possible->races[possible->count++].unknown_wait = true;
    }
    free(races.races);
    free(known);
    free(guesses);
}

void gt_check_run(struct gt_check *check, const struct gt_workload *w)
{
    *check = (struct gt_check){ .operations = w->op_count };
    for (gt_op_index i = 0; i < w->op_count; i++)
        check->known += gt_check_knows(w, i);
    check->unknown_waits = go_through(w, &check->certain, &check->misuses, NULL);
    if (has_possible(w))
        go_through(w, &check->possible, NULL, NULL);
    if (check->unknown_waits > 0)
        look_behind_waits(check, w);
}

void gt_check_free(struct gt_check *check)
{
    free(check->certain.races);
    free(check->possible.races);
    free(check->misuses.list);
    *check = (struct gt_check){ .operations = 0 };
}

double gt_check_covered_pct(const struct gt_check *check)
{
    return check->operations == 0 ? 100 : 100.0 * (double)check->known / (double)check->operations;
}
