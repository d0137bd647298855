#include "sim/changes/changes.h"

#include <stdio.h>
#include <string.h>

#include "sim/base/text.h"

/* The device first, then its keys, then what is done to the workload. */
const struct gt_change_kind *const gt_change_kinds[] = {
    &gt_change_device,         &gt_change_connections, &gt_change_launch_cost, &gt_change_key,
    &gt_change_batch,          &gt_change_seq,         &gt_change_hidden,      &gt_change_shape,
    &gt_change_dtype,          &gt_change_kernel,      &gt_change_remove,      &gt_change_priority,
    &gt_change_pinned,         &gt_change_async,       &gt_change_no_readback, &gt_change_prefetch,
    &gt_change_streams,        &gt_change_graph,       &gt_change_accumulate,  &gt_change_ddp,
    &gt_change_collective_sms, &gt_change_no_lock,     &gt_change_share,       &gt_change_delay,
};
const size_t gt_change_kind_count = sizeof gt_change_kinds / sizeof gt_change_kinds[0];

enum { LIST_BYTES = 512 };

/* "streams=N, graph, ..." */
static int unknown(const char *spec, size_t length, struct gt_error *error)
{
    char list[LIST_BYTES] = "", word[GT_SPELLING_BYTES];
    const char *near = NULL;
    size_t at = 0, least = GT_SPELLING_BYTES;

    snprintf(word, sizeof word, "%.*s", (int)length, spec);
    for (size_t i = 0; i < gt_change_kind_count; i++) {
        const struct gt_change_kind *kind = gt_change_kinds[i];
        size_t slips = kind->name == NULL ? GT_SPELLING_BYTES : gt_spelling_slips(word, kind->name);

        if (kind->name != NULL && at < sizeof list)
            at += (size_t)snprintf(list + at, sizeof list - at, "%s, ", kind->name);
        if (slips < least) {
            least = slips;
            near = kind->name;
        }
    }
    if (near != NULL)
        return gt_error_set(error,
                            "there is no change '%s'; did you mean %s? (changes are %sand device keys, KEY=VALUE)",
                            word, near, list);
    return gt_error_set(error, "there is no change '%s'; changes are %sand device keys, KEY=VALUE", word, list);
}

static const struct gt_change_kind *find(const char *spec, size_t length)
{
    for (size_t i = 0; i < gt_change_kind_count; i++) {
        const char *name = gt_change_kinds[i]->name;

        if (name != NULL && strlen(name) == length && memcmp(name, spec, length) == 0)
            return gt_change_kinds[i];
    }
    return NULL;
}

static int check_argument(const struct gt_change_kind *kind, const char *equals, struct gt_error *error)
{
    bool given = equals != NULL && equals[1] != '\0';

    if (kind->takes == GT_ARGUMENT_NEEDED && !given)
        return gt_error_set(error, "change '%s' takes a value: %s=%s", kind->name, kind->name, kind->argument);
    if (kind->takes == GT_ARGUMENT_NONE && equals != NULL)
        return gt_error_set(error, "change '%s' takes no value", kind->name);
    if (equals != NULL && !given)
        return gt_error_set(error, "change '%s=' has no value; %s=%s", kind->name, kind->name, kind->argument);
    return 0;
}

int gt_change_parse(const char *spec, struct gt_change *change, struct gt_error *error)
{
    const char *equals = strchr(spec, '=');
    size_t length = equals != NULL ? (size_t)(equals - spec) : strlen(spec);

    *change = (struct gt_change){ .spec = spec, .kind = find(spec, length), .argument = "" };
    if (change->kind != NULL) {
        if (equals != NULL)
            change->argument = equals + 1;
        return check_argument(change->kind, equals, error);
    }
    if (equals == NULL || memchr(spec, '.', length) == NULL)
        return unknown(spec, length, error);
    change->kind = &gt_change_key;
    change->argument = spec;
    return 0;
}

/* "kernel, remove, ..." */
static int refuse_unmodelled(struct gt_error *error)
{
    char list[LIST_BYTES] = "";
    size_t at = 0;

    for (size_t i = 0; i < gt_change_kind_count && at < sizeof list; i++)
        if (gt_change_kinds[i]->keeps_gpu)
            at += (size_t)snprintf(list + at, sizeof list - at, "%s%s", at > 0 ? ", " : "", gt_change_kinds[i]->name);
    return gt_error_set(
        error,
        "the recording is of a GPU of which there is no model, and this change needs one; of recorded "
        "durations alone: %s (or name a device file of that GPU with --device)",
        list);
}

static int apply(const struct gt_change *change, struct gt_scenario *scenario, struct gt_error *error)
{
    if (scenario->host->gpu_unmodelled && !change->kind->keeps_gpu)
        return refuse_unmodelled(error);
    return change->kind->apply(scenario, change->argument, error);
}

int gt_changes_apply(const struct gt_change *changes, size_t count, struct gt_scenario *scenario,
                     struct gt_error *error)
{
    for (size_t kind = 0; kind < gt_change_kind_count; kind++) {
        for (size_t i = 0; i < count; i++) {
            if (changes[i].kind == gt_change_kinds[kind] && apply(&changes[i], scenario, error) != 0)
                return gt_error_prefix(error, "%.200s: ", changes[i].spec);
        }
    }
    return 0;
}
