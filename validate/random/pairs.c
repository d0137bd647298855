/* Families pairs and triples: two or three kernels of a list (kernel_list.h), each alone, then at once in streams of their own: in
 * one order, in the other, and the later ones behind a part of the first. */
#include <inttypes.h>

#include "validate/random/kernel_list.h"
#include "validate/random/script.h"

enum { TRIPLE = 3 };

static void launch(struct gt_script *script, uint32_t stream, uint32_t kernel)
{
    fprintf(script->out, "{\"call\":\"launch\",\"stream\":\"s%" PRIu32 "\",\"kernel\":%s}\n", stream,
            script->list->kernels[kernel].id);
}

/* So many kernels of the list, none twice. */
static void draw_kernels(struct gt_script *script, uint32_t *kernels, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        bool again;

        do {
            kernels[i] = gt_chance_between(&script->chance, 0, script->list->count - 1);
            again = false;
            for (uint32_t j = 0; j < i; j++)
                again |= kernels[j] == kernels[i];
        } while (again);
        fprintf(script->out, "%s\n", script->list->kernels[kernels[i]].line);
    }
}

static void write_group(struct gt_script *script, uint32_t count)
{
    static const uint32_t late_us[] = { 5, 10, 20, 40 };
    uint32_t kernels[TRIPLE];

    draw_kernels(script, kernels, count);
    for (uint32_t i = 0; i < count; i++)
        fprintf(script->out, "{\"stream\":\"s%" PRIu32 "\"}\n", script->streams++);
    for (uint32_t i = 0; i < count; i++) {
        launch(script, i, kernels[i]);
        gt_script_end(script);
    }
    for (uint32_t i = 0; i < count; i++)
        launch(script, i, kernels[i]);
    gt_script_end(script);
    for (uint32_t i = count; i-- > 0;)
        launch(script, i, kernels[i]);
    gt_script_end(script);
    launch(script, 0, kernels[0]);
    fprintf(script->out, "{\"call\":\"host_work\",\"duration_us\":%" PRIu32 "}\n",
            gt_chance_pick(&script->chance, late_us, 4));
    for (uint32_t i = 1; i < count; i++)
        launch(script, i, kernels[i]);
}

void gt_script_write_pairs(struct gt_script *script)
{
    write_group(script, 2);
}

void gt_script_write_triples(struct gt_script *script)
{
    write_group(script, TRIPLE);
}
