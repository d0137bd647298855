/* Graphs at random. */
#include <inttypes.h>

#include "validate/random/script.h"

enum form { CHAINS, FORK_JOIN, LAYERS, ANY, FORMS };
enum { NODES_MOST = 48 };

static void write_after(struct gt_script *script, const uint32_t *after, uint32_t count)
{
    if (count == 0)
        return;
    fputs(",\"after\":[", script->out);
    for (uint32_t i = 0; i < count; i++)
        fprintf(script->out, "%s%" PRIu32, i > 0 ? "," : "", after[i]);
    fputs("]", script->out);
}

/* A kernel mostly; memsets and copies now and then. */
static void write_node(struct gt_script *script, const uint32_t *after, uint32_t count)
{
    struct gt_chance *chance = &script->chance;
    uint32_t kernel = gt_chance_between(chance, 0, script->kernels - 1);

    script->left_us -= script->work_us[kernel] < script->left_us ? script->work_us[kernel] : script->left_us;
    if (gt_chance_in(chance, 1, 16))
        fprintf(script->out, "{\"kind\":\"memset\",\"bytes\":%" PRIu32, gt_chance_scale(chance, 64, 1 << 20));
    else if (gt_chance_in(chance, 1, 16))
        fprintf(script->out, "{\"direction\":\"%s\",\"bytes\":%" PRIu32, gt_chance_in(chance, 1, 2) ? "h2d" : "d2h",
                gt_chance_scale(chance, 64, 1 << 20));
    else
        fprintf(script->out, "{\"kernel\":\"k%" PRIu32 "\"", kernel);
    write_after(script, after, count);
    fputs("}", script->out);
}

/* What node `node` comes after, in a graph of that form with `width` branches; returns how many. */
static uint32_t draw_after(struct gt_chance *chance, enum form form, uint32_t node, uint32_t nodes, uint32_t width,
                           uint32_t *after)
{
    uint32_t count = 0;

    switch (form) {
    case CHAINS: /* chains side by side */
        if (node >= width)
            after[count++] = node - width;
        break;
    case FORK_JOIN: /* one, then branches, then one that waits for them all */
        if (node == nodes - 1 && nodes > 2) {
            for (uint32_t before = nodes - 1 > width ? nodes - 1 - width : 0; before < nodes - 1; before++)
                after[count++] = before;
        } else if (node > 0) {
            after[count++] = node <= width ? 0 : node - width;
        }
        break;
    case LAYERS: /* each of a layer waits for all of the one before */
        for (uint32_t before = node / width * width; before-- > 0 && before + width >= node / width * width;)
            after[count++] = before;
        break;
    default:
        for (uint32_t tries = gt_chance_between(chance, 0, 2); node > 0 && tries > 0; tries--) {
            uint32_t before = gt_chance_between(chance, 0, node - 1);

            if (count == 0 || after[0] != before)
                after[count++] = before;
        }
    }
    return count;
}

void gt_script_graph(struct gt_script *script, uint32_t thread, uint32_t stream, uint32_t nodes)
{
    struct gt_chance *chance = &script->chance;
    enum form form = gt_chance_between(chance, 0, FORMS - 1);
    uint32_t count = gt_chance_between(chance, 2, nodes < NODES_MOST ? nodes : NODES_MOST);
    uint32_t width = gt_chance_between(chance, 1, count < 6 ? count : 6), after[NODES_MOST];

    fputs("{\"call\":\"graph_launch\"", script->out);
    if (script->threads > 1)
        fprintf(script->out, ",\"thread\":\"t%" PRIu32 "\"", thread);
    fprintf(script->out, ",\"stream\":\"s%" PRIu32 "\",\"nodes\":[", stream % script->streams);
    for (uint32_t node = 0; node < count; node++) {
        uint32_t afters = draw_after(chance, form, node, count, width, after);

        fputs(node > 0 ? "," : "", script->out);
        write_node(script, after, afters);
    }
    fputs("]}\n", script->out);
}
