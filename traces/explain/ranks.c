#include "traces/explain/ranks.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/sort.h"
#include "traces/explain/part.h"

static const struct gt_loaded_op *op_of(const struct gt_loaded_run *t, gt_op_index op)
{
    return &t->ops[op];
}

static gt_gpu_index gpu_of(const struct gt_loaded_run *t, gt_op_index op)
{
    return t->streams[t->ops[op].stream].gpu;
}

/* Kernels by end, those of one name together. */
static int by_instance(const void *left, const void *right, void *user)
{
    const struct gt_loaded_run *t = user;
    gt_op_index a = *(const gt_op_index *)left, b = *(const gt_op_index *)right;
    int names;

    GT_ORDER(op_of(t, a)->end_ps, op_of(t, b)->end_ps);
    names = strcmp(t->kernels[op_of(t, a)->kernel].name, t->kernels[op_of(t, b)->kernel].name);
    if (names != 0)
        return names;
    GT_ORDER(gpu_of(t, a), gpu_of(t, b));
    GT_ORDER(a, b);
    return 0;
}

static bool together(const struct gt_loaded_run *t, gt_op_index a, gt_op_index b)
{
    return op_of(t, a)->end_ps == op_of(t, b)->end_ps &&
           strcmp(t->kernels[op_of(t, a)->kernel].name, t->kernels[op_of(t, b)->kernel].name) == 0;
}

/* Does the store tell collectives from other kernels?  Those of before version 9 do not. */
static bool knows_collectives(const struct gt_loaded_run *t)
{
    for (uint32_t i = 0; i < t->kernel_count; i++)
        if (t->kernels[i].shape.collective.kind != GT_COLLECTIVE_NONE)
            return true;
    return false;
}

static bool may_meet(const struct gt_loaded_run *t, gt_op_index op, bool known)
{
    return op_of(t, op)->kind == GT_OP_KERNEL && gt_part_has_op(t, op) &&
           (!known || t->kernels[op_of(t, op)->kernel].shape.collective.kind != GT_COLLECTIVE_NONE);
}

static gt_op_index *sorted_kernels(const struct gt_loaded_run *t, uint32_t *count, bool known)
{
    gt_op_index *kernels = gt_calloc(t->started + 1ull, sizeof *kernels);

    *count = 0;
    for (uint32_t i = 0; i < t->started; i++)
        if (may_meet(t, t->by_start[i], known))
            kernels[(*count)++] = t->by_start[i];
    if (*count > 0)
        qsort_r(kernels, *count, sizeof *kernels, by_instance, (void *)t);
    return kernels;
}

/* The first of by_start that may overlap what starts then: none lasts longer than `longest_ps`. */
static uint32_t first_beside(const struct gt_loaded_run *t, gt_time_ps start_ps, gt_time_ps longest_ps)
{
    uint32_t low =
        GT_LOWER_BOUND(middle, 0, t->started, op_of(t, t->by_start[middle])->start_ps + longest_ps < start_ps);
    return low;
}

/* An instance of ranks: its parts, and which came last and first. */
struct instance {
    const gt_op_index *parts;
    uint32_t count;
    gt_op_index last, first;
};
typedef void take_fn(const struct gt_loaded_run *t, const struct instance *instance, gt_time_ps longest_ps,
                     void *user);

struct telling {
    gt_rank_piece_fn *tell;
    void *user;
    struct gt_rank_piece piece;
    gt_time_ps came_ps; /* when the last rank had come */
};

/* From where the piece begins to `to_ps`, apart where the last rank comes meanwhile. */
static void tell_until(struct telling *telling, gt_time_ps to_ps, bool hidden)
{
    struct gt_rank_piece *piece = &telling->piece;

    while (piece->from_ps < to_ps) {
        piece->waiting = piece->from_ps < telling->came_ps;
        piece->hidden = hidden;
        piece->to_ps = piece->waiting && telling->came_ps < to_ps ? telling->came_ps : to_ps;
        telling->tell(telling->user, piece);
        piece->from_ps = piece->to_ps;
    }
}

/* The part's time in pieces: beside other work of its GPU, or alone. */
static void tell_part(const struct gt_loaded_run *t, gt_op_index part, gt_time_ps longest_ps, struct telling *telling)
{
    const struct gt_loaded_op *own = op_of(t, part);
    uint32_t first = first_beside(t, own->start_ps, longest_ps);

    telling->piece = (struct gt_rank_piece){ .part = part, .gpu = gpu_of(t, part), .from_ps = own->start_ps };
    for (uint32_t i = first; i < t->started && op_of(t, t->by_start[i])->start_ps < own->end_ps; i++) {
        const struct gt_loaded_op *other = op_of(t, t->by_start[i]);

        if (t->by_start[i] == part || other->end_ps <= telling->piece.from_ps ||
            gpu_of(t, t->by_start[i]) != gpu_of(t, part))
            continue;
        tell_until(telling, other->start_ps, false);
        tell_until(telling, other->end_ps < own->end_ps ? other->end_ps : own->end_ps, true);
    }
    tell_until(telling, own->end_ps, false);
}

static void tell_instance(const struct gt_loaded_run *t, const struct instance *instance, gt_time_ps longest_ps,
                          void *user)
{
    struct telling *telling = user;

    telling->came_ps = op_of(t, instance->last)->start_ps;
    for (uint32_t i = 0; i < instance->count; i++)
        tell_part(t, instance->parts[i], longest_ps, telling);
}

/* What a GPU did for longest between two times. */
static void find_busy(const struct gt_loaded_run *t, struct gt_rank_waits *rank, gt_time_ps from_ps, gt_time_ps to_ps,
                      gt_time_ps longest_ps)
{
    rank->busy = GT_NONE;
    rank->busy_ps = 0;
    for (uint32_t i = first_beside(t, from_ps, longest_ps);
         i < t->started && op_of(t, t->by_start[i])->start_ps < to_ps; i++) {
        const struct gt_loaded_op *op = op_of(t, t->by_start[i]);
        gt_time_ps start_ps = op->start_ps > from_ps ? op->start_ps : from_ps;
        gt_time_ps end_ps = op->end_ps < to_ps ? op->end_ps : to_ps;

        if (gpu_of(t, t->by_start[i]) != rank->gpu || end_ps <= start_ps || end_ps - start_ps <= rank->busy_ps)
            continue;
        rank->busy = t->by_start[i];
        rank->busy_ps = end_ps - start_ps;
    }
}

static gt_time_ps kept_ps(const struct gt_loaded_run *t, const struct instance *instance)
{
    gt_time_ps kept = 0;

    for (uint32_t i = 0; i < instance->count; i++)
        kept += op_of(t, instance->last)->start_ps - op_of(t, instance->parts[i])->start_ps;
    return kept;
}

static void add_piece(void *user, const struct gt_rank_piece *piece)
{
    struct gt_rank_waits *own = &((struct gt_rank_waits *)user)[piece->gpu];

    *(piece->hidden ? &own->hidden_ps : &own->exposed_ps) += piece->to_ps - piece->from_ps;
}

static void add_instance(const struct gt_loaded_run *t, const struct instance *instance, gt_time_ps longest_ps,
                         void *user)
{
    struct gt_rank_waits *of_gpu = user, *late = &of_gpu[gpu_of(t, instance->last)];
    struct telling telling = { .tell = add_piece, .user = of_gpu };
    gt_time_ps first_ps = op_of(t, instance->first)->start_ps, last_ps = op_of(t, instance->last)->start_ps;
    gt_time_ps kept = kept_ps(t, instance);

    tell_instance(t, instance, longest_ps, &telling);
    for (uint32_t i = 0; i < instance->count; i++) {
        struct gt_rank_waits *own = &of_gpu[gpu_of(t, instance->parts[i])];

        own->collectives++;
        own->waited_ps += last_ps - op_of(t, instance->parts[i])->start_ps;
    }
    if (kept == 0)
        return;
    late->last++;
    late->kept_ps += kept;
    if (late->worst == GT_NONE || kept > late->worst_ps) {
        late->worst = instance->last;
        late->worst_ps = kept;
        late->worst_others = instance->count - 1;
        gt_why(t, instance->last, first_ps, last_ps, &late->hold);
        find_busy(t, late, first_ps, last_ps, longest_ps);
    }
}

/* The instance of these parts; where it is not known that they are of a collective, if anybody waited in it. */
static void take_parts(const struct gt_loaded_run *t, const gt_op_index *parts, uint32_t count, bool known,
                       gt_time_ps longest_ps, take_fn *take, void *user)
{
    struct instance instance = { parts, count, parts[0], parts[0] };

    for (uint32_t i = 1; i < count; i++) {
        if (op_of(t, parts[i])->start_ps > op_of(t, instance.last)->start_ps)
            instance.last = parts[i];
        if (op_of(t, parts[i])->start_ps < op_of(t, instance.first)->start_ps)
            instance.first = parts[i];
    }
    if (known || op_of(t, instance.first)->start_ps < op_of(t, instance.last)->start_ps)
        take(t, &instance, longest_ps, user);
}

static void for_instances(const struct gt_loaded_run *t, take_fn *take, void *user)
{
    uint32_t kernels;
    bool known = knows_collectives(t);
    gt_op_index *sorted = sorted_kernels(t, &kernels, known);
    gt_time_ps longest_ps = 0;

    for (uint32_t i = 0; i < t->started; i++) {
        const struct gt_loaded_op *op = op_of(t, t->by_start[i]);

        longest_ps = op->end_ps - op->start_ps > longest_ps ? op->end_ps - op->start_ps : longest_ps;
    }
    for (uint32_t i = 0, behind; i < kernels && t->gpu_count > 1; i = behind) {
        for (behind = i + 1; behind < kernels && together(t, sorted[i], sorted[behind]); behind++)
            ;
        /* A broadcast's root may be done before others are, who then meet nobody; so may a message's sender. */
        if (known || (behind - i > 1 && gpu_of(t, sorted[i]) != gpu_of(t, sorted[behind - 1])))
            take_parts(t, &sorted[i], behind - i, known, longest_ps, take, user);
    }
    free(sorted);
}

void gt_rank_pieces(const struct gt_loaded_run *t, gt_rank_piece_fn *tell, void *user)
{
    struct telling telling = { .tell = tell, .user = user };

    for_instances(t, tell_instance, &telling);
}

struct telling_lates {
    gt_rank_late_fn *tell;
    void *user;
};

static void tell_late(const struct gt_loaded_run *t, const struct instance *instance, gt_time_ps longest_ps,
                      void *user)
{
    const struct telling_lates *telling = user;
    struct gt_rank_late late = { gpu_of(t, instance->last), op_of(t, instance->last)->start_ps,
                                 kept_ps(t, instance) };

    (void)longest_ps;
    telling->tell(telling->user, &late);
}

void gt_rank_lates(const struct gt_loaded_run *t, gt_rank_late_fn *tell, void *user)
{
    struct telling_lates telling = { tell, user };

    for_instances(t, tell_late, &telling);
}

struct gt_rank_waits *gt_rank_waits(const struct gt_loaded_run *t, size_t *count)
{
    struct gt_rank_waits *of_gpu = gt_calloc(t->gpu_count + 1ull, sizeof *of_gpu);

    for (uint32_t i = 0; i < t->gpu_count; i++)
        of_gpu[i] = (struct gt_rank_waits){ .gpu = i, .worst = GT_NONE, .busy = GT_NONE };
    for_instances(t, add_instance, of_gpu);
    *count = 0;
    for (uint32_t i = 0; i < t->gpu_count; i++)
        if (of_gpu[i].collectives > 0)
            of_gpu[(*count)++] = of_gpu[i];
    return of_gpu;
}
