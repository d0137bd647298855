#include "traces/jsonl/keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "sim/base/text.h"

/* A longer name is a nuisance in every launch. */
enum { KERNEL_KEY_BYTES = 40 };

struct taken {
    UT_hash_handle hh;
    uint32_t copies; /* keys made up from this one, itself counted */
    char key[];
};

/* The keys of one kind of thing, while they are given out. */
struct giver {
    struct gt_key *keys;
    struct taken *taken; /* "s" and the text, or "n" and the number */
    uint64_t tried;
};

/* NULL: the key was free and is taken now; else who has it. */
static struct taken *take(struct giver *giver, const char *sort, const char *key)
{
    size_t length = strlen(key) + 1;
    struct taken *taken = gt_calloc(1, sizeof *taken + length + 1), *there;

    giver->tried++;
    snprintf(taken->key, length + 1, "%s%s", sort, key);
    taken->copies = 1;
    HASH_FIND(hh, giver->taken, taken->key, length, there);
    if (there != NULL) {
        free(taken);
        return there;
    }
    HASH_ADD_KEYPTR(hh, giver->taken, taken->key, length, taken);
    return NULL;
}

static struct taken *take_text(struct giver *giver, uint32_t index, const char *text)
{
    struct taken *there = take(giver, "s", text);

    if (there == NULL)
        giver->keys[index].text = strdup(text);
    return there;
}

static bool take_number(struct giver *giver, uint32_t index, uint64_t number)
{
    char text[24];

    snprintf(text, sizeof text, "%llu", (unsigned long long)number);
    if (take(giver, "n", text) != NULL)
        return false;
    giver->keys[index].number = number;
    return true;
}

/* The name, else the number, else number@scope, else that with #2, #3 and so on.  Whoever has a key counts
 * those made up from it, so that the next one need not try them all again. */
static void give(struct giver *giver, uint32_t index, const char *name, uint64_t number, uint64_t scope)
{
    struct taken *there;
    char base[48], text[64];

    if (name != NULL && name[0] != '\0' && take_text(giver, index, name) == NULL)
        return;
    if (take_number(giver, index, number))
        return;
    snprintf(base, sizeof base, "%llu@%llu", (unsigned long long)number, (unsigned long long)scope);
    there = take_text(giver, index, base);
    if (there == NULL)
        return;
    do
        snprintf(text, sizeof text, "%s#%u", base, ++there->copies);
    while (take_text(giver, index, text) != NULL);
}

static struct giver begin(uint32_t count)
{
    return (struct giver){ .keys = gt_calloc(count + 1ull, sizeof(struct gt_key)) };
}

static struct gt_key *end(struct giver *giver, uint64_t *tried)
{
    struct taken *taken, *next;

    *tried += giver->tried;
    HASH_ITER(hh, giver->taken, taken, next)
    {
        HASH_DEL(giver->taken, taken);
        free(taken);
    }
    return giver->keys;
}

static const char *name_of(const struct gt_keys *keys, uint32_t name)
{
    return name == GT_NONE ? NULL : keys->names[name];
}

/* Kernels go by a short name that only one has, else by their index. */
static struct gt_key *kernel_keys(struct gt_keys *keys, const struct gt_workload *workload)
{
    struct giver giver = begin(workload->kernel_count);
    uint32_t *uses = gt_calloc(gt_name_count(workload) + 1ull, sizeof *uses);

    for (uint32_t i = 0; i < workload->kernel_count; i++)
        if (workload->kernels[i].name != GT_NONE)
            uses[workload->kernels[i].name]++;
    for (uint32_t i = 0; i < workload->kernel_count; i++) {
        uint32_t name = workload->kernels[i].name;
        bool handy = name != GT_NONE && uses[name] == 1 && strlen(keys->names[name]) <= KERNEL_KEY_BYTES;

        give(&giver, i, handy ? keys->names[name] : NULL, i, 0);
    }
    free(uses);
    return end(&giver, &keys->tried);
}

static struct gt_key *stream_keys(struct gt_keys *keys, const struct gt_workload *workload)
{
    struct giver giver = begin(workload->stream_count);

    for (uint32_t i = 0; i < workload->stream_count; i++) {
        const struct gt_stream *stream = &workload->streams[i];
        const char *name = name_of(keys, stream->name);

        /* "default" means stream 0. */
        give(&giver, i, name != NULL && strcmp(name, "default") == 0 ? NULL : name, stream->id,
             workload->gpus[stream->gpu].id);
    }
    return end(&giver, &keys->tried);
}

static struct gt_key *thread_keys(struct gt_keys *keys, const struct gt_workload *workload)
{
    struct giver giver = begin(workload->thread_count);

    for (uint32_t i = 0; i < workload->thread_count; i++)
        give(&giver, i, name_of(keys, workload->threads[i].name), workload->threads[i].id,
             workload->threads[i].process);
    return end(&giver, &keys->tried);
}

static struct gt_key *event_keys(struct gt_keys *keys, const struct gt_workload *workload)
{
    struct giver giver = begin(workload->event_count);

    for (uint32_t i = 0; i < workload->event_count; i++)
        give(&giver, i, name_of(keys, workload->events[i].name), workload->events[i].id, i);
    return end(&giver, &keys->tried);
}

/* GPUs have numbers; their names are products. */
static struct gt_key *gpu_keys(struct gt_keys *keys, const struct gt_workload *workload)
{
    struct giver giver = begin(workload->gpu_count);

    for (uint32_t i = 0; i < workload->gpu_count; i++)
        give(&giver, i, NULL, workload->gpus[i].id, i);
    return end(&giver, &keys->tried);
}

void gt_keys_make(struct gt_keys *keys, const struct gt_workload *workload)
{
    uint32_t names = gt_name_count(workload);

    keys->tried = 0;
    keys->names = gt_calloc(names + 1ull, sizeof *keys->names);
    for (uint32_t i = 0; i < names; i++)
        keys->names[i] = gt_utf8_clean(gt_name_text(workload, i));
    keys->kernels = kernel_keys(keys, workload);
    keys->streams = stream_keys(keys, workload);
    keys->threads = thread_keys(keys, workload);
    keys->events = event_keys(keys, workload);
    keys->gpus = gpu_keys(keys, workload);
}

static void free_keys(struct gt_key *keys, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        free(keys[i].text);
    free(keys);
}

void gt_keys_free(struct gt_keys *keys, const struct gt_workload *workload)
{
    free_keys(keys->kernels, workload->kernel_count);
    free_keys(keys->streams, workload->stream_count);
    free_keys(keys->threads, workload->thread_count);
    free_keys(keys->events, workload->event_count);
    free_keys(keys->gpus, workload->gpu_count);
    for (uint32_t i = 0; i < gt_name_count(workload); i++)
        free(keys->names[i]);
    free(keys->names);
}
