/* kineto.c - read a Kineto profile: feed yajl chunk by chunk, say where an error is. */
#include "traces/kineto/kineto.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <yajl/yajl_parse.h>

#include "traces/import/blocking_streams.h"
#include "traces/io/input.h"
#include "traces/kineto/internal.h"

enum {
    CHUNK_BYTES = 64 * 1024,
    TAIL_BYTES = 32,                   /* kept before a chunk: a word may begin in the one before */
    TOKEN_MAX_BYTES = 16 * 1024 * 1024 /* yajl holds a text as a whole, and reads it again and again */
};

struct reader {
    const char *path;
    struct gt_error *error;
    struct gt_input *input;
    yajl_handle yajl;
    struct kineto_json json;
    struct kineto kineto;
    uint64_t offset;                /* of chunk[0] in the uncompressed text */
    uint64_t values, values_offset; /* how many there were, and where, when last looked at */
    uint64_t words;                 /* NaN and the like that were read over */
    bool in_word;                   /* the rest of such a word is in the next chunk */
    unsigned char bytes[TAIL_BYTES + CHUNK_BYTES];
};

static int sniff(const unsigned char *head, size_t bytes)
{
    /* clang-format off */
    static const char *const signs[] = {
        "\"traceEvents\"", "\"deviceProperties\"", "\"ph\"", "\"schemaVersion\"",
    };
    /* clang-format on */
    size_t at = 0;

    while (at < bytes && isspace(head[at]))
        at++;
    if (at == bytes || (head[at] != '{' && head[at] != '['))
        return 0;
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++)
        if (memmem(head, bytes, signs[i], strlen(signs[i])) != NULL)
            return 80;
    return 10;
}

static int open_yajl(struct reader *reader)
{
    reader->yajl = yajl_alloc(kineto_json_callbacks(), NULL, &reader->json);
    if (reader->yajl == NULL)
        return gt_error_set(reader->error, "%s: no memory for the JSON parser", reader->path);
    yajl_config(reader->yajl, yajl_dont_validate_strings, 1);
    return 0;
}

/* What yajl, or a callback, found wrong at byte `at` of the text. */
static int fail_at(struct reader *reader, uint64_t at, yajl_status status)
{
    unsigned char *text;

    if (status == yajl_status_client_canceled)
        return gt_error_prefix(reader->error, "%s: byte %llu: ", reader->path, (unsigned long long)at);
    text = yajl_get_error(reader->yajl, 0, NULL, 0);
    gt_error_set(reader->error, "%s: byte %llu: not JSON: %.*s", reader->path, (unsigned long long)at,
                 (int)strcspn((char *)text, "\n"), (char *)text);
    yajl_free_error(reader->yajl, text);
    return -1;
}

static bool in_word(unsigned char c)
{
    return isalnum(c) || c == '+' || c == '-' || c == '.';
}

/* The beginning of a word that C++ and Python print where JSON has no number: NaN, -inf, Infinity. */
static bool is_no_number(const unsigned char *word, size_t length)
{
    static const char *const words[] = { "nan", "inf", "-nan", "-inf", "+inf" };

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t compared = length < strlen(words[i]) ? length : strlen(words[i]);

        if (compared > 0 && strncasecmp((const char *)word, words[i], compared) == 0)
            return true;
    }
    return false;
}

/* yajl cannot go on after an error.  Bring a new one to the same place: all that is open is opened
 * again, unheard, and a null stands for the word. */
static int reopen_yajl(struct reader *reader)
{
    unsigned char prefix[KINETO_DEPTH_MAX * 4 + 8];
    struct kineto_json saved = reader->json;
    size_t length = 0;

    for (unsigned level = saved.depth; level-- > 0;) {
        bool object = saved.containers >> level & 1;

        memcpy(prefix + length, object ? "{\"\":" : "[", object ? 4 : 1);
        length += object ? 4 : 1;
    }
    memcpy(prefix + length, "null", 4);
    length += 4;
    yajl_free(reader->yajl);
    if (open_yajl(reader) != 0)
        return -1;
    reader->json.depth = 0;
    reader->json.skip = 1;
    if (yajl_parse(reader->yajl, prefix, length) != yajl_status_ok)
        gt_bug("kineto: the JSON parser refuses %.*s", (int)length, prefix);
    reader->json = saved;
    return 0;
}

/* yajl stumbled at bytes[at]: where a NaN or the like is the reason, step over it. Returns where to
 * go on, or 0 when it is another reason. */
static size_t step_over_word(struct reader *reader, size_t at, size_t end)
{
    size_t begin = at < end ? at : end - 1;

    while (begin > 0 && !in_word(reader->bytes[begin]) && at - begin < 2)
        begin--;
    while (begin > 0 && in_word(reader->bytes[begin - 1]))
        begin--;
    if (!is_no_number(reader->bytes + begin, end - begin) || reader->json.depth == 0)
        return 0;
    if (at < begin)
        at = begin;
    while (at < end && in_word(reader->bytes[at]))
        at++;
    reader->in_word = at == end;
    reader->words++;
    return at;
}

/* Hand bytes[from .. end - 1] to yajl. */
static int feed(struct reader *reader, size_t from, size_t end)
{
    while (from < end) {
        yajl_status status = yajl_parse(reader->yajl, reader->bytes + from, end - from);
        size_t at = from + yajl_get_bytes_consumed(reader->yajl);
        size_t next;

        if (status == yajl_status_ok)
            return 0;
        next = status == yajl_status_error ? step_over_word(reader, at, end) : 0;
        if (next <= from) /* also: the word stepped over last, and what follows it is wrong */
            return fail_at(reader, reader->offset + at - TAIL_BYTES, status);
        if (reopen_yajl(reader) != 0)
            return -1;
        from = next;
    }
    return 0;
}

/* A file without end must not become a text without end in memory. */
static int check_token(struct reader *reader)
{
    if (reader->json.values != reader->values) {
        reader->values = reader->json.values;
        reader->values_offset = reader->offset;
    }
    if (reader->offset - reader->values_offset > TOKEN_MAX_BYTES)
        return gt_error_set(reader->error, "%s: byte %llu: a value is longer than %d MiB, so this is no Kineto trace",
                            reader->path, (unsigned long long)reader->values_offset, TOKEN_MAX_BYTES >> 20);
    return 0;
}

static int read_text(struct reader *reader, const struct gt_import_options *options)
{
    for (;;) {
        ssize_t got = gt_input_read(reader->input, reader->bytes + TAIL_BYTES, CHUNK_BYTES, reader->error);
        size_t from = TAIL_BYTES, end = TAIL_BYTES + (size_t)got;

        if (got <= 0)
            return (int)got;
        while (reader->in_word && from < end && in_word(reader->bytes[from]))
            from++;
        reader->in_word = reader->in_word && from == end;
        if (feed(reader, from, end) != 0)
            return -1;
        reader->offset += (uint64_t)got;
        memmove(reader->bytes, reader->bytes + end - TAIL_BYTES, TAIL_BYTES);
        if (check_token(reader) != 0)
            return -1;
        if (options != NULL && options->progress != NULL)
            options->progress(options->progress_user, gt_input_consumed(reader->input), gt_input_size(reader->input));
    }
}

static int end_text(struct reader *reader)
{
    if (reader->offset == 0)
        return gt_error_set(reader->error, "%s: byte 0: the file is empty", reader->path);
    if (yajl_complete_parse(reader->yajl) != yajl_status_ok)
        return gt_error_set(reader->error,
                            "%s: byte %llu: the JSON text ends too early; is the file "
                            "complete?",
                            reader->path, (unsigned long long)reader->offset);
    if (!reader->kineto.has_events)
        return gt_error_set(reader->error,
                            "%s: byte %llu: contains no list of events (traceEvents); not a Kineto trace",
                            reader->path, (unsigned long long)reader->offset);
    return 0;
}

static int read_file(struct reader *reader, const struct gt_import_options *options)
{
    reader->input = gt_input_share(options != NULL ? options->input : NULL, reader->path, reader->error);
    if (reader->input == NULL || open_yajl(reader) != 0 || read_text(reader, options) != 0)
        return -1;
    return end_text(reader);
}

static void free_parts(struct kineto *kineto)
{
    gt_import_free(&kineto->import);
    free(kineto->event.name.bytes);
    free(kineto->event.arg_name.bytes);
    free(kineto->event.sizes.bytes);
    free(kineto->event.types.bytes);
    free(kineto->event.values.bytes);
    for (int i = 0; i < KINETO_TEXTS; i++)
        free(kineto->event.texts[i].bytes);
    free(kineto->gpus);
    free(kineto->marks);
    free(kineto->thread_names);
    free(kineto->externals);
    gt_collective_notes_free(&kineto->announced);
    kineto_tensors_free(&kineto->tensors);
}

static void give_notes(struct kineto *kineto, const struct gt_import_options *options)
{
    struct gt_collective_notes *notes = &kineto->import.collectives;

    notes->has_origin = !__builtin_add_overflow(notes->origin_ns, kineto->base_ns, &notes->origin_ns);
    if (kineto->rank >= 0 && kineto->rank < GT_NONE)
        notes->rank = (uint32_t)kineto->rank;
    if (kineto->ranks < GT_NONE)
        notes->ranks = (uint32_t)kineto->ranks;
    gt_import_give_notes(&kineto->import, options != NULL ? options->collectives : NULL);
}

static struct gt_workload *read_profile(const char *path, const struct gt_import_options *options,
                                        struct gt_error *error)
{
    struct reader *reader = gt_calloc(1, sizeof *reader);
    struct kineto *kineto = &reader->kineto;
    struct gt_workload *workload = NULL;
    int status;

    reader->path = path;
    reader->error = error;
    kineto->last_thread = GT_NONE;
    kineto->rank = -1;
    kineto->wants_tensors = options != NULL && options->execution_trace != NULL;
    gt_import_begin(&kineto->import, "kineto");
    kineto_json_begin(&reader->json, kineto, error);
    status = read_file(reader, options);
    if (reader->yajl != NULL)
        yajl_free(reader->yajl);
    if (reader->input != NULL)
        gt_input_close(reader->input);
    if (status == 0) {
        gt_import_warn(kineto->import.workload, "values-not-json", reader->words);
        kineto_join(kineto);
        kineto_describe_device(kineto);
        if (kineto->wants_tensors)
            status = kineto_tensors_begin(&kineto->tensors, &kineto->import, options->execution_trace, error);
    }
    if (status == 0) {
        workload = gt_import_finish(&kineto->import, path, error);
        if (workload != NULL) {
            gt_import_find_blocking(workload, kineto_sms(kineto));
            give_notes(kineto, options);
            if (kineto->wants_tensors)
                kineto_tensors_give(&kineto->tensors, workload);
        }
    }
    free_parts(kineto);
    free(reader);
    return workload;
}

const struct gt_importer gt_importer_kineto = {
    .name = "kineto",
    .help = "a profile of PyTorch's profiler (Kineto): Chrome-trace JSON",
    .sniff = sniff,
    .takes_execution_trace = true,
    .read = read_profile,
};
