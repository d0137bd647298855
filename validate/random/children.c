/* Kernels whose blocks launch kernels, at random: into NULL streams, streams of the grid, as fire-and-forget and as
 * tails, some of them themselves. */
#include <inttypes.h>

#include "validate/random/script.h"

enum { RULES_MOST = 3, DESCENDANTS_MOST = 150, OWN_STREAMS = 3, DEPTH_MOST = 4 };

enum into { INTO_NULL, INTO_STREAM, INTO_FIRE_AND_FORGET, INTO_TAIL };
enum blocks { BLOCKS_ALL, BLOCKS_FIRST, BLOCKS_LAST, BLOCKS_EVERY };

struct rule {
    uint32_t kernel; /* its own number: it launches itself */
    uint32_t depth;  /* then: how deep */
    uint32_t at_pct, count, every, stream;
    enum into into;
    enum blocks blocks;
};

struct parent {
    uint32_t number, grid, block_us, rule_count;
    struct rule rules[RULES_MOST];
};

/* What one launch of each kernel leads to. */
struct tree {
    uint64_t grids[GT_SCRIPT_KERNELS];
};

static struct rule draw_rule(struct gt_chance *chance, uint32_t kernel)
{
    static const uint32_t at[] = { 0, 10, 25, 50, 75, 100 }, every[] = { 2, 3, 5 }, counts[] = { 1, 1, 1, 2, 3 };
    static const uint32_t intos[] = {
        INTO_NULL, INTO_NULL, INTO_STREAM, INTO_STREAM, INTO_FIRE_AND_FORGET, INTO_TAIL
    };
    static const uint32_t blocks[] = { BLOCKS_ALL, BLOCKS_FIRST, BLOCKS_FIRST, BLOCKS_LAST, BLOCKS_EVERY };
    struct rule rule = { .kernel = gt_chance_between(chance, 0, kernel - 1) };

    rule.at_pct = gt_chance_pick(chance, at, 6);
    rule.count = gt_chance_pick(chance, counts, 5);
    rule.every = gt_chance_pick(chance, every, 3);
    rule.stream = gt_chance_between(chance, 0, OWN_STREAMS - 1);
    rule.into = (enum into)gt_chance_pick(chance, intos, 6);
    rule.blocks = (enum blocks)gt_chance_pick(chance, blocks, 5);
    if (gt_chance_in(chance, 3, 10)) {
        rule.kernel = kernel;
        rule.depth = gt_chance_between(chance, 1, DEPTH_MOST);
        rule.blocks = BLOCKS_FIRST;
        rule.count = rule.count > 2 ? 2 : rule.count;
    }
    return rule;
}

static uint64_t launching_blocks(const struct parent *parent, const struct rule *rule)
{
    switch (rule->blocks) {
    case BLOCKS_ALL: return parent->grid;
    case BLOCKS_EVERY: return (parent->grid + rule->every - 1) / rule->every;
    default: return 1;
    }
}

/* Grids that one at that depth leads to. */
static uint64_t descendants(const struct tree *tree, const struct parent *parent, uint32_t depth)
{
    uint64_t grids = 0;

    for (uint32_t i = 0; i < parent->rule_count; i++) {
        const struct rule *rule = &parent->rules[i];
        bool itself = rule->kernel == parent->number;

        if (!itself || depth < rule->depth)
            grids += launching_blocks(parent, rule) * rule->count *
                     (1 + (itself ? descendants(tree, parent, depth + 1) : tree->grids[rule->kernel]));
    }
    return grids;
}

static void write_rule(struct gt_script *script, const struct parent *parent, const struct rule *rule)
{
    FILE *out = script->out;

    fprintf(out, "{\"kernel\":\"k%" PRIu32 "\",\"at\":%" PRIu32 ".%02" PRIu32, rule->kernel, rule->at_pct / 100,
            rule->at_pct % 100);
    if (rule->blocks == BLOCKS_EVERY)
        fprintf(out, ",\"every\":%" PRIu32, rule->every);
    else if (rule->blocks != BLOCKS_ALL)
        fprintf(out, ",\"blocks\":\"%s\"", rule->blocks == BLOCKS_FIRST ? "first" : "last");
    if (rule->count > 1)
        fprintf(out, ",\"count\":%" PRIu32, rule->count);
    if (rule->into == INTO_STREAM)
        fprintf(out, ",\"into\":\"stream\",\"stream\":%" PRIu32, rule->stream);
    else if (rule->into != INTO_NULL)
        fprintf(out, ",\"into\":\"%s\"", rule->into == INTO_TAIL ? "tail" : "fire_and_forget");
    if (rule->kernel == parent->number)
        fprintf(out, ",\"depth\":%" PRIu32, rule->depth);
    fputs("}", out);
}

static void write_leaf(struct gt_script *script, struct tree *tree)
{
    static const uint32_t grids[] = { 1, 2, 8, 33, 132, 200 }, blocks[] = { 32, 128, 256, 1024 };
    static const uint32_t times[] = { 5, 10, 20, 50 };
    uint32_t grid = gt_chance_pick(&script->chance, grids, 6), block = gt_chance_pick(&script->chance, blocks, 4);
    uint32_t us = gt_chance_pick(&script->chance, times, 4);

    tree->grids[script->kernels] = 0;
    script->work_us[script->kernels] = us;
    fprintf(script->out,
            "{\"kernel\":\"k%" PRIu32 "\",\"grid\":%" PRIu32 ",\"block\":%" PRIu32 ",\"block_us\":%" PRIu32 "}\n",
            script->kernels++, grid, block, us);
}

/* Rules anew until what they lead to is in bounds. */
static void write_parent(struct gt_script *script, struct tree *tree)
{
    static const uint32_t grids[] = { 1, 1, 2, 4, 8, 20 }, times[] = { 20, 40, 80 };
    struct gt_chance *chance = &script->chance;
    struct parent parent = { .number = script->kernels };
    uint64_t grids_after;

    do {
        parent.grid = gt_chance_pick(chance, grids, 6);
        parent.block_us = gt_chance_pick(chance, times, 3);
        parent.rule_count = gt_chance_between(chance, 1, RULES_MOST);
        for (uint32_t i = 0; i < parent.rule_count; i++)
            parent.rules[i] = draw_rule(chance, parent.number);
        grids_after = descendants(tree, &parent, 0);
    } while (grids_after == 0 || grids_after > DESCENDANTS_MOST);
    tree->grids[parent.number] = grids_after;
    script->work_us[parent.number] = parent.block_us + grids_after * 5;
    fprintf(script->out, "{\"kernel\":\"k%" PRIu32 "\",\"grid\":%" PRIu32 ",\"block\":%d,\"block_us\":%" PRIu32,
            script->kernels++, parent.grid, gt_chance_in(chance, 1, 2) ? 32 : 128, parent.block_us);
    fputs(",\"launches\":[", script->out);
    for (uint32_t i = 0; i < parent.rule_count; i++) {
        fputs(i > 0 ? "," : "", script->out);
        write_rule(script, &parent, &parent.rules[i]);
    }
    fputs("]}\n", script->out);
}

void gt_script_write_children(struct gt_script *script)
{
    struct gt_chance *chance = &script->chance;
    struct tree tree = { { 0 } };
    uint32_t launches;

    gt_script_streams(script, gt_chance_between(chance, 1, 3), false);
    for (uint32_t leaves = gt_chance_between(chance, 1, 3); leaves > 0; leaves--)
        write_leaf(script, &tree);
    for (uint32_t parents = gt_chance_between(chance, 1, 3); parents > 0; parents--)
        write_parent(script, &tree);
    gt_script_launch_of(script, 0, 0, script->kernels - 1, "");
    for (launches = gt_chance_between(chance, 1, 4); launches > 0; launches--) {
        gt_script_launch(script, 0, gt_script_any_stream(script));
        if (gt_chance_in(chance, 1, 3))
            gt_script_record(script, 0, gt_script_any_stream(script));
        if (gt_chance_in(chance, 1, 3))
            gt_script_wait(script, 0, gt_script_any_stream(script));
    }
}
