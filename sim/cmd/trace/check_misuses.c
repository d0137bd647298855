#include "sim/cmd/trace/check_misuses.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/base/error.h"
#include "sim/cmd/print/json.h"
#include "sim/cmd/trace/check_texts.h"
#include "traces/names/clean_text.h"

/* One in words; all are malloced. */
struct words {
    char *buffer, *first, *second, *fix;
};

static char *free_text(const struct gt_workload *w, gt_call_index call)
{
    char *place = gt_check_place_text(w, call), *stream, *text;

    if (w->calls[call].stream == GT_NONE) {
        text = gt_format("free (%s)", place);
    } else {
        stream = gt_check_stream_text(w, w->calls[call].stream);
        text = gt_format("free (%s, stream %s)", place, stream);
        free(stream);
    }
    free(place);
    return text;
}

static char *in_use_fix(const struct gt_workload *w, const struct gt_misuse *misuse)
{
    char *place = gt_check_place_text(w, misuse->freed);
    char *by = gt_check_stream_text(w, w->calls[misuse->freed].stream);
    char *user = gt_check_stream_text(w, w->ops[misuse->op].stream);
    char *text =
        gt_format("before the free at %s: %s.wait_stream(%s), or free it in stream %s", place, by, user, user);

    free(place);
    free(by);
    free(user);
    return text;
}

static char *fix_text(const struct gt_workload *w, const struct gt_misuse *misuse)
{
    char *place, *text;

    switch ((enum gt_misuse_kind)misuse->kind) {
    case GT_MISUSE_FREE_IN_USE: return in_use_fix(w, misuse);
    case GT_MISUSE_DOUBLE_FREE:
        place = gt_check_place_text(w, misuse->again);
        text = gt_format("no free at %s: nothing was allocated there since the last free", place);
        break;
    default:
        place = gt_check_place_text(w, misuse->freed);
        text = gt_format("free it after its last use, not at %s", place);
        break;
    }
    free(place);
    return text;
}

static struct words words_of(const struct gt_workload *w, const struct gt_misuse *misuse)
{
    char *freed = free_text(w, misuse->freed);
    char *other = misuse->op != GT_NONE ? gt_check_op_text(w, misuse->op) : free_text(w, misuse->again);
    bool in_use = misuse->kind == GT_MISUSE_FREE_IN_USE;

    return (struct words){
        .buffer = gt_strdup(gt_name_text(w, w->buffers[misuse->buffer].name)),
        .first = in_use ? other : freed,
        .second = in_use ? freed : other,
        .fix = fix_text(w, misuse),
    };
}

static void free_words(struct words *words)
{
    free(words->buffer);
    free(words->first);
    free(words->second);
    free(words->fix);
}

static void print_line(const char *what, const char *text)
{
    char *clean = gt_clean_name(text);

    printf("%s%s\n", what, clean);
    free(clean);
}

static void print_misuse(const struct gt_workload *w, const struct gt_misuse *misuse)
{
    struct words words = words_of(w, misuse);

    printf("\n%s of ", gt_misuse_kind_names[misuse->kind]);
    print_line("", words.buffer);
    print_line("  first   ", words.first);
    print_line("  second  ", words.second);
    print_line("  do      ", words.fix);
    free_words(&words);
}

uint32_t gt_check_certain_misuses(const struct gt_misuses *misuses)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < misuses->count; i++)
        count += misuses->list[i].certain;
    return count;
}

void gt_check_print_misuses(const struct gt_workload *w, const struct gt_misuses *misuses)
{
    uint32_t certain = gt_check_certain_misuses(misuses);

    for (uint32_t i = 0; i < misuses->count; i++)
        if (misuses->list[i].certain)
            print_misuse(w, &misuses->list[i]);
    if (misuses->count > certain)
        printf("\n%" PRIu32
               " stream-ordered free%s of a buffer that another stream may still use, not counted: an error with "
               "cudaFreeAsync, but not with an allocator that caches the memory; --format json lists them\n",
               misuses->count - certain, misuses->count - certain > 1 ? "s" : "");
}

static void put(yajl_gen json, const char *key, const char *text)
{
    gt_json_text(json, key);
    gt_json_text(json, text);
}

void gt_check_put_misuses(yajl_gen json, const struct gt_workload *w, const struct gt_misuses *misuses)
{
    gt_json_text(json, "misuses");
    yajl_gen_array_open(json);
    for (uint32_t i = 0; i < misuses->count; i++) {
        struct words words = words_of(w, &misuses->list[i]);

        yajl_gen_map_open(json);
        put(json, "kind", gt_misuse_kind_names[misuses->list[i].kind]);
        put(json, "buffer", words.buffer);
        put(json, "first", words.first);
        put(json, "second", words.second);
        put(json, "fix", words.fix);
        gt_json_text(json, "certain");
        yajl_gen_bool(json, misuses->list[i].certain);
        yajl_gen_map_close(json);
        free_words(&words);
    }
    yajl_gen_array_close(json);
}

struct gt_table *gt_check_misuse_table(const struct gt_workload *w, const struct gt_misuses *misuses)
{
    /* clang-format off */
    static const struct gt_column columns[] = {
        { "kind", GT_COLUMN_TEXT }, { "buffer", GT_COLUMN_TEXT }, { "first", GT_COLUMN_TEXT }, { "second", GT_COLUMN_TEXT },
        { "fix", GT_COLUMN_WIDE }, { "certain", GT_COLUMN_NUMBER },
    };
    /* clang-format on */
    struct gt_table *table = gt_table_new("misuses", columns, sizeof columns / sizeof columns[0]);

    for (uint32_t i = 0; i < misuses->count; i++) {
        struct words words = words_of(w, &misuses->list[i]);

        gt_table_text(table, gt_misuse_kind_names[misuses->list[i].kind]);
        gt_table_text(table, words.buffer);
        gt_table_text(table, words.first);
        gt_table_text(table, words.second);
        gt_table_text(table, words.fix);
        gt_table_integer(table, misuses->list[i].certain);
        free_words(&words);
    }
    return table;
}
