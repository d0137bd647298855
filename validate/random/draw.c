#include "validate/random/draw.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "traces/jsonl/trace.h"
#include "validate/random/families.h"

/* Work that launches of one trace may add up to, of the whole GPU: some milliseconds, so that thousands of traces
 * are played in minutes. */
enum { WORK_US = 2500 };

static int list_families(struct gt_error *error, const char *name, size_t length)
{
    char names[GT_ERROR_TEXT_BYTES / 2] = "";

    for (size_t i = 0; i < gt_family_count; i++) {
        size_t used = strlen(names);

        snprintf(names + used, sizeof names - used, "%s%s", i > 0 ? ", " : "", gt_families[i].name);
    }
    return gt_error_set(error, "no family '%.*s' of random traces; there are %s", (int)length, name, names);
}

int gt_draws_of(struct gt_draws *draws, const char *families, uint64_t seed, struct gt_error *error)
{
    *draws = (struct gt_draws){ .seed = seed };
    if (families == NULL) {
        for (size_t i = 0; i < gt_family_count && draws->family_count < GT_DRAW_FAMILIES_MAX; i++)
            if (!gt_families[i].by_name)
                draws->families[draws->family_count++] = &gt_families[i];
        return 0;
    }
    while (draws->family_count < GT_DRAW_FAMILIES_MAX) {
        size_t length = strcspn(families, ",");
        const struct gt_family *family = gt_family_find(families, length);

        if (family == NULL)
            return list_families(error, families, length);
        draws->families[draws->family_count++] = family;
        if (families[length] == '\0')
            return 0;
        families += length + 1;
    }
    return gt_error_set(error, "too many families; name each once");
}

bool gt_draws_need_list(const struct gt_draws *draws)
{
    for (uint32_t i = 0; i < draws->family_count; i++)
        if (draws->families[i]->of_list)
            return true;
    return false;
}

void gt_draw_name(const struct gt_draws *draws, uint32_t number, char *name, size_t bytes)
{
    snprintf(name, bytes, "random-%" PRIu64 "/%s-%" PRIu32, draws->seed,
             draws->families[number % draws->family_count]->name, number / draws->family_count);
}

char *gt_draw_text(const struct gt_draws *draws, uint32_t number)
{
    const struct gt_family *family = draws->families[number % draws->family_count];
    struct gt_script script = {
        .chance = gt_chance_of(draws->seed, family->name, number / draws->family_count),
        .list = draws->list,
        .threads = 1,
        .left_us = WORK_US,
    };
    char *text = NULL, name[128];
    size_t bytes;

    script.out = open_memstream(&text, &bytes);
    if (script.out == NULL)
        gt_bug("no memory for a random trace");
    gt_draw_name(draws, number, name, sizeof name);
    fprintf(script.out, "{\"gridtide\":1,\"name\":\"%s\",\"device\":\"h200\"}\n", name);
    family->write(&script);
    gt_script_end(&script);
    fclose(script.out);
    return text;
}

struct gt_workload *gt_draw_read(const char *text, struct gt_error *error)
{
    struct gt_workload *workload = NULL;
    size_t bytes = strlen(text);
    int file = memfd_create("random", 0);
    char path[64];

    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    if (file < 0 || write(file, text, bytes) != (ssize_t)bytes || lseek(file, 0, SEEK_SET) != 0)
        gt_error_set(error, "no memory for a random trace");
    else
        workload = gt_trace_read(path, NULL, error);
    if (workload != NULL) {
        free(workload->path); /* messages name the trace, which has no file */
        workload->path = NULL;
    }
    if (file >= 0)
        close(file);
    return workload;
}
