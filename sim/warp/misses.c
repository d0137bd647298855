/* misses.c - which loads find their data in a cache.
 *
 * The profile says which part of all that was loaded missed L1, and L2, in a launch whose caches were cold.
 * What the code says of it:
 *  - A load in a loop, of as much as one in a loop before it, goes over the same data again (soft-max, norms).
 *  - What threads of a warp read alike, other warps read too (a channel's weights).
 *  - A load from the registers of one before it, less than a sector away, reads the same sectors.
 *  - Loads past L1 that are not copies ask for what other blocks have just written: it is in L2.
 * Those hit where they can.  Of the other loads each is taken to bring as much that is new as any other, up
 * to all of what it asks for: what is loaded once a block misses, what is loaded in every trip mostly hits.
 */
#include <math.h>
#include <stdlib.h>

#include "sim/warp/internal.h"

/* Loops load the same amount up to this part of it. */
#define SAME 0.02

enum {
    NEAR_INSTRUCTIONS = 256, /* looked back for a load from the same registers */
    THREADS_A_WORD = 4,      /* and more that read it: it is theirs together */
    HALVINGS = 30            /* of the level's range: to a billionth of it */
};

/* A run of instructions in one loop, in the order of the code. */
struct passage {
    uint32_t loop, first, last; /* last: one behind */
};

struct loads {
    struct gt_decoded_program *code;
    struct passage *passages;
    uint32_t count;
    bool *old;     /* [instruction]: reads what was read before */
    double *fresh; /* sectors of each load that does not */
    uint32_t fresh_count;
};

static const struct gt_access *load_of(const struct gt_program *program, uint32_t i)
{
    const struct gt_instruction *in = &program->instructions[i];
    const struct gt_access *access = in->memory == GT_NONE ? NULL : &program->memory[in->memory];

    if (access == NULL || access->sectors <= 0 ||
        (in->action != GT_ACTION_LOAD && in->action != GT_ACTION_ASYNC_COPY) || access->space == GT_SPACE_SHARED ||
        access->space == GT_SPACE_CLUSTER || access->space == GT_SPACE_CONSTANT)
        return NULL;
    return access;
}

double gt_warp_sectors_asked(const struct gt_decoded_program *code, uint32_t i, bool l2)
{
    const struct gt_access *access = load_of(code->program, i);

    if (access == NULL || (!l2 && (access->bypass_l1 || access->space == GT_SPACE_LOCAL)))
        return 0;
    double sectors = (double)code->program->instructions[i].executions * access->sectors;
    return l2 ? sectors * code->ops[i].l1_miss : sectors;
}

static void find_passages(struct loads *loads)
{
    const struct gt_program *program = loads->code->program;
    struct passage *passages = loads->passages;

    for (uint32_t b = 0; b < program->block_count; b++) {
        const struct gt_basic_block *block = &program->blocks[b];
        struct passage *last = loads->count > 0 ? &passages[loads->count - 1] : NULL;

        if (last == NULL || last->loop != block->loop || last->last != block->first) {
            last = &passages[loads->count++];
            *last = (struct passage){ .loop = block->loop, .first = block->first, .last = block->first };
        }
        last->last = block->first + block->count;
    }
}

static bool writes(const struct gt_instruction *in, unsigned base)
{
    for (uint32_t k = 0; k < in->operand_count; k++) {
        const struct gt_operand *to = &in->operands[k];

        if ((to->flags & GT_OPERAND_WRITTEN) != 0 && to->file == GT_FILE_VECTOR && to->number <= base + 1 &&
            base < (unsigned)to->number + to->count)
            return true;
    }
    return false;
}

/* Do both read less than a sector from each other, as long as their registers stay as they are? */
static bool near(const struct gt_address *a, const struct gt_address *b)
{
    return a->base == b->base && a->uniform == b->uniform && a->base_count == b->base_count && a->scale == b->scale &&
           abs(a->offset_bytes - b->offset_bytes) < GT_SECTOR_BYTES;
}

/* Whether a load behind instruction `first` reads the sectors of one shortly before it. */
static bool is_beside(const struct loads *loads, uint32_t i, uint32_t first)
{
    const struct gt_program *program = loads->code->program;
    const struct gt_access *here = load_of(program, i);

    if (here == NULL || here->address.base_count == 0)
        return false;
    for (uint32_t k = i; k-- > first && i - k < NEAR_INSTRUCTIONS;) {
        const struct gt_access *there = load_of(program, k);

        if (writes(&program->instructions[k], here->address.base))
            return false;
        if (there != NULL && near(&there->address, &here->address))
            return true;
    }
    return false;
}

/* Whether threads of a warp read the same: weights of a channel, a row's mean. */
static bool is_shared(const struct gt_instruction *in, const struct gt_access *access)
{
    return access != NULL &&
           access->sectors_ideal * GT_SECTOR_BYTES * THREADS_A_WORD <= (double)in->threads_on * access->width_bytes;
}

/* Whether a loop before that of passage `p` has a load of as much as load `i`. */
static bool was_loaded(const struct loads *loads, uint32_t p, uint32_t i)
{
    double sectors = loads->passages[p].loop == GT_NONE ? 0 : gt_warp_sectors_asked(loads->code, i, false);

    for (uint32_t q = 0; q < p && sectors > 0; q++) {
        const struct passage *before = &loads->passages[q];
        bool other = before->loop != GT_NONE && before->loop != loads->passages[p].loop;

        for (uint32_t k = before->first; other && k < before->last; k++)
            if (fabs(gt_warp_sectors_asked(loads->code, k, false) - sectors) <= SAME * sectors)
                return true;
    }
    return false;
}

static void find_old(struct loads *loads, bool l2)
{
    const struct gt_program *program = loads->code->program;

    for (uint32_t p = 0; p < loads->count; p++)
        for (uint32_t i = loads->passages[p].first; i < loads->passages[p].last; i++) {
            const struct gt_access *access = load_of(program, i);
            bool told = access != NULL && access->bypass_l1 && program->instructions[i].action == GT_ACTION_LOAD;

            loads->old[i] = was_loaded(loads, p, i) || (l2 && told) || is_shared(&program->instructions[i], access) ||
                            is_beside(loads, i, loads->passages[p].first);
        }
}

/* Sectors that each load brings at most, so that all together bring `missed`. */
static double level(const struct loads *loads, double missed, double all)
{
    double low = 0, high = all;

    for (int i = 0; i < HALVINGS; i++) {
        double middle = (low + high) / 2, sum = 0;

        for (uint32_t k = 0; k < loads->fresh_count; k++)
            sum += fmin(middle, loads->fresh[k]);
        *(sum < missed ? &low : &high) = middle;
    }
    return high;
}

/* Deal out what misses L1 (or L2): `rate` of all. */
static void share_out(struct loads *loads, bool l2, double rate)
{
    struct gt_decoded_program *code = loads->code;
    uint32_t count = code->program->instruction_count;
    double fresh = 0, all = 0;

    find_old(loads, l2);
    loads->fresh_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        double sectors = gt_warp_sectors_asked(code, i, l2);

        all += sectors;
        if (sectors > 0 && !loads->old[i]) {
            fresh += sectors;
            loads->fresh[loads->fresh_count++] = sectors;
        }
    }
    double most = level(loads, all * rate, all);
    double rest = all > fresh ? fmax(0, all * rate - fresh) / (all - fresh) : 0;
    for (uint32_t i = 0; i < count; i++) {
        double sectors = gt_warp_sectors_asked(code, i, l2);
        float *miss = l2 ? &code->ops[i].l2_miss : &code->ops[i].l1_miss;

        if (sectors > 0)
            *miss = (float)(loads->old[i] ? rest : fmin(1, most / sectors));
    }
}

void gt_warp_find_misses(struct gt_decoded_program *code, double l2_bytes)
{
    const struct gt_program *program = code->program;
    struct loads loads = { .code = code };

    loads.passages = gt_calloc(program->block_count + 1, sizeof *loads.passages);
    loads.old = gt_calloc(program->instruction_count + 1, sizeof *loads.old);
    loads.fresh = gt_calloc(program->instruction_count + 1, sizeof *loads.fresh);
    for (uint32_t i = 0; i < program->instruction_count; i++)
        if (load_of(program, i) != NULL) {
            code->ops[i].l1_miss = (float)(1 - gt_warp_hit_rate(&code->use, load_of(program, i), true));
            code->ops[i].l2_miss = (float)code->l2_read_miss;
        }
    find_passages(&loads);
    share_out(&loads, false, 1 - fmax(0, code->use.l1_load_hit));
    share_out(&loads, true, code->l2_read_miss);
    for (uint32_t i = 0; i < program->instruction_count; i++)
        code->ops[i].once = gt_warp_sectors_asked(code, i, true) * code->ops[i].l2_miss * GT_SECTOR_BYTES < l2_bytes;
    free(loads.passages);
    free(loads.old);
    free(loads.fresh);
}
