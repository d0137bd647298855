#include "sim/shapes/held_memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "sim/shapes/result_bytes.h"
#include "sim/shapes/roles.h"
#include "sim/workload/allocations.h"
#include "sim/workload/ranges.h"

/* Tensors of one size that were there before, whatever their sides: some are turned.  At one place of one operator each is taken
 * once, as far as it can be told: as many are at least taken there, or by one operator at a time. */
struct kind {
    struct kind_key {
        double bytes, new_bytes;
    } key;
    uint32_t count;
    bool viewed;         /* an operator that launches nothing took one: its result is a part of that */
    uint32_t at_once;    /* taken by the operator at `last` */
    gt_range_index last; /* GT_NONE: none yet */
    UT_hash_handle hh;
};
struct taking {
    struct taking_key {
        struct kind_key kind;
        uint32_t name, place;
    } key;
    uint32_t count;
    UT_hash_handle hh;
};

/* Allocations of one size that are alive. */
struct alive {
    double bytes; /* asked for */
    double block; /* the largest that was given out for them */
    uint32_t count;
    UT_hash_handle hh;
};

struct finding {
    const struct gt_workload *w;
    const struct gt_sizes *sizes;
    const double *asked;
    const bool *optimiser;
    uint32_t next; /* allocation that is still to come */
    struct kind *kinds;
    struct taking *takings;
    gt_range_index root; /* the node that a backward pass begins with; GT_NONE: none is under way */
    struct alive *alive;
    double parameters;
    bool optimises;
};

static struct alive *alive_of(struct finding *f, double bytes)
{
    struct alive *alive;

    HASH_FIND(hh, f->alive, &bytes, sizeof bytes, alive);
    if (alive != NULL)
        return alive;
    alive = gt_calloc(1, sizeof *alive);
    alive->bytes = bytes;
    HASH_ADD(hh, f->alive, bytes, sizeof alive->bytes, alive);
    return alive;
}

static void take_allocation(struct finding *f, uint32_t index)
{
    const struct gt_allocation *allocation = &f->w->allocations[index];

    if (allocation->bytes > 0) {
        struct alive *alive = alive_of(f, gt_block_bytes(f->asked[index]));

        alive->count++;
        alive->block = fmax(alive->block, (double)allocation->bytes);
    } else if (allocation->frees != GT_NONE)
        alive_of(f, gt_block_bytes(f->asked[allocation->frees]))->count--;
}

static bool is_within(const struct gt_workload *w, gt_range_index at, gt_range_index range)
{
    while (at != GT_NONE && at > range)
        at = w->ranges[at].parent;
    return at == range;
}

/* All that were before the range began: those in earlier ranges.  Frees after them may also come behind a range in which nothing
 * is allocated or freed. */
static void come_to(struct finding *f, gt_range_index range)
{
    uint32_t end = f->next;

    for (uint32_t i = f->next; i < f->w->allocation_count; i++) {
        const struct gt_allocation *allocation = &f->w->allocations[i];

        if (allocation->range != GT_NONE && allocation->range >= range) {
            end = is_within(f->w, allocation->range, range) ? i : end;
            break;
        }
        if (allocation->bytes > 0)
            end = i + 1;
    }
    for (; f->next < end; f->next++)
        take_allocation(f, f->next);
}

static uint32_t count_alive(struct finding *f, double bytes)
{
    double block = gt_block_bytes(bytes);
    struct alive *alive;

    HASH_FIND(hh, f->alive, &block, sizeof block, alive);
    return alive != NULL ? alive->count : 0;
}

enum { MOST_PARTS = 12 };

/* Was it allocated, or is it a part of what was? */
static bool is_made(struct finding *f, double bytes)
{
    for (int parts = 1; parts <= MOST_PARTS; parts++)
        if (count_alive(f, parts * bytes) > 0)
            return true;
    for (const struct alive *alive = f->alive; alive != NULL && bytes > GT_SMALL_BYTES; alive = alive->hh.next)
        if (alive->count > 0 && alive->block >= bytes && alive->block - bytes <= GT_SMALL_BYTES)
            return true;
    return false;
}

static struct kind *kind_of(struct finding *f, const struct kind_key *key)
{
    struct kind *kind;

    HASH_FIND(hh, f->kinds, key, sizeof *key, kind);
    if (kind != NULL)
        return kind;
    kind = gt_calloc(1, sizeof *kind);
    *kind = (struct kind){ .key = *key, .last = GT_NONE };
    HASH_ADD(hh, f->kinds, key, sizeof kind->key, kind);
    return kind;
}

/* How many of the kind are taken at that place of all operators of that name, with this one. */
static uint32_t count_taking(struct finding *f, const struct taking_key *key)
{
    struct taking *taking;

    HASH_FIND(hh, f->takings, key, sizeof *key, taking);
    if (taking == NULL) {
        taking = gt_calloc(1, sizeof *taking);
        taking->key = *key;
        HASH_ADD(hh, f->takings, key, sizeof taking->key, taking);
    }
    return ++taking->count;
}

static bool is_part(const struct finding *f, double bytes)
{
    for (const struct kind *kind = f->kinds; kind != NULL; kind = kind->hh.next)
        if (kind->viewed && kind->key.bytes > bytes && fmod(kind->key.bytes, bytes) == 0)
            return true;
    return false;
}

static void take_tensor(struct finding *f, gt_range_index range, uint32_t place, double bytes, double new_bytes)
{
    const struct taking_key key = { .kind = { bytes, new_bytes }, .name = f->w->ranges[range].name, .place = place };
    struct kind *kind = kind_of(f, &key.kind);
    uint32_t count = count_taking(f, &key);

    kind->at_once = kind->last == range ? kind->at_once + 1 : 1;
    kind->last = range;
    kind->viewed |= f->w->ranges[range].first_call == f->w->ranges[range].end_call;
    count = count > kind->at_once ? count : kind->at_once;
    kind->count = count > kind->count ? count : kind->count;
}

static void take_parameters(struct finding *f, gt_range_index range, const struct gt_inputs *inputs)
{
    const char *roles = gt_roles_of(gt_operator_name(f->w, range));

    for (gt_range_index at = f->w->ranges[range].parent; at != GT_NONE; at = f->w->ranges[at].parent)
        if (gt_range_is_backward_node(f->w, &f->w->ranges[at]) ||
            (gt_inputs_of(f->sizes->all, at) != NULL &&
             strchr(gt_roles_of(gt_operator_name(f->w, at)), GT_ROLE_PARAMETER) != NULL))
            return;
    for (int i = 0; i < inputs->count && roles[i] != '\0'; i++)
        if (roles[i] == GT_ROLE_PARAMETER)
            f->parameters += gt_tensor_bytes(&inputs->tensors[i]);
}

/* Of an operator that is within none whose inputs are known: the node of a backward pass that it is in; GT_NONE: it is in none.
 * False: it is within such an operator. */
static bool is_outermost(const struct finding *f, gt_range_index range, gt_range_index *node)
{
    *node = GT_NONE;
    for (gt_range_index at = range; at != GT_NONE; at = f->w->ranges[at].parent) {
        if (at != range && gt_inputs_of(f->sizes->all, at) != NULL)
            return false;
        if (gt_range_is_backward_node(f->w, &f->w->ranges[at]))
            *node = at;
    }
    return true;
}

/* Does a backward pass begin with it?  Then its first input is a gradient that nobody made, unless two so large are alive. */
static bool begins_backward(struct finding *f, gt_range_index node)
{
    bool begins = node != GT_NONE && f->root == GT_NONE;

    f->root = node;
    return begins;
}

static void take_operator(struct finding *f, gt_range_index range)
{
    const struct gt_inputs *from = gt_inputs_of(f->sizes->all, range);
    struct gt_inputs to;
    gt_range_index node;
    bool begins;

    f->optimises |= f->optimiser[range];
    if (from == NULL || f->optimiser[range])
        return;
    take_parameters(f, range, from);
    if (!is_outermost(f, range, &node))
        return;
    begins = begins_backward(f, node);
    come_to(f, range);
    gt_sizes_apply(f->sizes, range, &to);
    for (int i = 0; i < from->count; i++) {
        double bytes = gt_tensor_bytes(&from->tensors[i]), new_bytes = gt_tensor_bytes(&to.tensors[i]);
        bool given = begins && i == 0 && count_alive(f, bytes) < 2;

        if (from->tensors[i].element_bytes == 0) /* of a list: how large its elements are is not told */
            continue;
        if (bytes > 0 && new_bytes != bytes && (given || (!is_made(f, bytes) && !is_part(f, bytes))))
            take_tensor(f, range, (uint32_t)i, bytes, new_bytes);
    }
}

/* The ranges of the first step; of all there is without steps. */
static void find_step(const struct gt_workload *w, gt_range_index *first, gt_range_index *end)
{
    bool begun = false;

    *first = 0;
    *end = w->range_count;
    for (gt_range_index i = 0; i < *end; i++) {
        if (w->ranges[i].kind != GT_RANGE_STEP)
            continue;
        *(begun ? end : first) = i;
        begun = true;
    }
}

static void free_all(struct finding *f)
{
    struct kind *kind, *next_kind;
    struct taking *taking, *next_taking;
    struct alive *alive, *next_alive;

    HASH_ITER(hh, f->kinds, kind, next_kind)
    {
        HASH_DEL(f->kinds, kind);
        free(kind);
    }
    HASH_ITER(hh, f->takings, taking, next_taking)
    {
        HASH_DEL(f->takings, taking);
        free(taking);
    }
    HASH_ITER(hh, f->alive, alive, next_alive)
    {
        HASH_DEL(f->alive, alive);
        free(alive);
    }
}

/* Gradients and two moments, as Adam has them; a plain SGD has less. */
enum { KEPT_BY_OPTIMISER = 3 };

void gt_held_memory_find(struct gt_held_memory *held, const struct gt_workload *w, const struct gt_sizes *sizes,
                         const double *asked, const bool *optimiser)
{
    struct finding f = { .w = w, .sizes = sizes, .asked = asked, .optimiser = optimiser, .root = GT_NONE };
    gt_range_index first, end;
    double left;

    *held = (struct gt_held_memory){ .data = 0 };
    find_step(w, &first, &end);
    for (gt_range_index i = first; i < end; i++)
        take_operator(&f, i);
    for (struct kind *kind = f.kinds; kind != NULL; kind = kind->hh.next) {
        held->data += kind->count * gt_block_bytes(kind->key.bytes);
        held->new_data += kind->count * gt_block_bytes(kind->key.new_bytes);
    }
    held->parameters = f.parameters;
    left = fmax((double)w->gpus[w->allocations[0].gpu].allocated_bytes - f.parameters, 0);
    if (held->data > left) {
        held->new_data *= left / held->data;
        held->data = left;
    }
    held->unknown = fmax(left - held->data - (f.optimises ? KEPT_BY_OPTIMISER * f.parameters : 0), 0);
    free_all(&f);
}
