/* The header line. */
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_gen.h>

#include "traces/import/warnings.h"
#include "traces/jsonl/reader.h"
#include "traces/jsonl/trace.h"

enum { SHOWN = 60, ITEMS_LIMIT = 4096 }; /* of settings and warnings, which are searched one by one */

struct raw_header {
    uint64_t version;
    const struct gt_json_token *name, *source, *device, *settings, *warnings, *recording;
};
static const struct gt_field header_fields[] = {
    { "gridtide", GT_FIELD_U64, offsetof(struct raw_header, version), NULL, 0 },
    { "name", GT_FIELD_TEXT, offsetof(struct raw_header, name), NULL, 0 },
    { "source", GT_FIELD_TEXT, offsetof(struct raw_header, source), NULL, 0 },
    { "device", GT_FIELD_TEXT, offsetof(struct raw_header, device), NULL, 0 },
    { "settings", GT_FIELD_OBJECT, offsetof(struct raw_header, settings), NULL, 0 },
    { "warnings", GT_FIELD_ARRAY, offsetof(struct raw_header, warnings), NULL, 0 },
    { "recording", GT_FIELD_OBJECT, offsetof(struct raw_header, recording), NULL, 0 },
};
static const struct gt_field_table header_table = GT_FIELD_TABLE("the header", header_fields);

struct raw_warning {
    const struct gt_json_token *kind, *text;
    uint64_t count;
};
static const struct gt_field warning_fields[] = {
    { "kind", GT_FIELD_TEXT, offsetof(struct raw_warning, kind), NULL, 0 },
    { "count", GT_FIELD_U64, offsetof(struct raw_warning, count), NULL, 0 },
    { "text", GT_FIELD_TEXT, offsetof(struct raw_warning, text), NULL, 0 },
};
static const struct gt_field_table warning_table = GT_FIELD_TABLE("a warning", warning_fields);

/* A malloced copy; NULL for null and for what is not there. */
static char *copy_text(const struct gt_json_token *text)
{
    return text != NULL && text->type != GT_JSON_NULL ? strndup(text->text, text->length) : NULL;
}

static int read_settings(struct gt_workload *workload, const struct gt_json_token *settings, struct gt_error *error)
{
    const struct gt_json_token *key = settings + 1;

    for (; key < settings + settings->span; key += 1 + key[1].span) {
        char *name, *value;

        if (workload->setting_count == ITEMS_LIMIT)
            return gt_error_set(error, "\"settings\": more than %d of them", ITEMS_LIMIT);
        if (key[1].type != GT_JSON_STRING && key[1].type != GT_JSON_NUMBER)
            return gt_error_set(error, "\"settings\": the value of \"%.*s\" must be a string or a number",
                                key->length < SHOWN ? (int)key->length : SHOWN, key->text);
        name = copy_text(key);
        value = copy_text(key + 1);
        for (uint32_t i = 0; i < workload->setting_count; i++) {
            if (strcmp(workload->settings[i].key, name) != 0)
                continue;
            gt_error_set(error, "\"settings\": \"%.60s\" occurs twice", name);
            free(name);
            free(value);
            return -1;
        }
        gt_workload_add_setting(workload, name, value);
        free(name);
        free(value);
    }
    return 0;
}

static int read_warnings(struct gt_jsonl *jsonl, const struct gt_json_token *list, struct gt_error *error)
{
    const struct gt_json_token *item = list + 1;
    struct gt_unknown unknown = { 0 };
    uint64_t given;
    int result = 0;

    for (; result == 0 && item < list + list->span; item += item->span) {
        struct raw_warning raw = { .count = 1 };

        if (jsonl->workload->warning_count == ITEMS_LIMIT)
            result = gt_error_set(error, "\"warnings\": more than %d of them", ITEMS_LIMIT);
        else if (item->type != GT_JSON_OBJECT)
            result = gt_error_set(error, "\"warnings\" must be a list of {\"kind\",\"count\",\"text\"}");
        else
            result = gt_fields_read(item, &warning_table, jsonl->line, &raw, &given, &unknown, error);
        if (result == 0 && (raw.kind == NULL || raw.kind->type == GT_JSON_NULL))
            result = gt_error_set(error, "a warning needs a \"kind\"");
        if (result == 0) {
            char *kind = copy_text(raw.kind), *text = copy_text(raw.text);

            /* Fields are looked at each time they are read. */
            if (strcmp(kind, GT_WARNING_MISSPELT) != 0)
                gt_workload_warn(jsonl->workload, kind, raw.count, text != NULL ? text : "");
            free(kind);
            free(text);
        }
    }
    free(unknown.text);
    return result;
}

int gt_jsonl_header(struct gt_jsonl *jsonl, const struct gt_json_token *object, struct gt_error *error)
{
    struct gt_workload *workload = jsonl->workload;
    struct raw_header raw = { .version = 0 };
    uint64_t given;

    if (jsonl->header_read)
        return gt_error_set(error, "a second header; a trace has one, as its first line");
    if (gt_fields_read(object, &header_table, jsonl->line, &raw, &given, &jsonl->unknown, error) != 0)
        return -1;
    if (raw.version != GT_TRACE_VERSION)
        return gt_error_set(error, "the trace has format version %llu; this Gridtide reads version %d",
                            (unsigned long long)raw.version, GT_TRACE_VERSION);
    workload->name = copy_text(raw.name);
    workload->source = copy_text(raw.source);
    workload->device = copy_text(raw.device);
    if ((raw.settings != NULL && read_settings(workload, raw.settings, error) != 0) ||
        (raw.warnings != NULL && read_warnings(jsonl, raw.warnings, error) != 0) ||
        (raw.recording != NULL && gt_jsonl_recording(jsonl, raw.recording, error) != 0))
        return -1;
    gt_jsonl_keep_unknown(jsonl, GT_EXTRA_HEADER, 0);
    jsonl->header_read = true;
    return 0;
}

/* What kernels and kinds of tasks name alike: the library's kernel that runs them, with its arguments, and a program. */

/* An argument is a number or a word: what a parameter of a library kernel may be. */
static int read_argument(const struct gt_json_token *key, yajl_gen text, struct gt_error *error)
{
    const struct gt_json_token *value = key + 1;

    if (value->type == GT_JSON_NUMBER)
        yajl_gen_number(text, value->text, value->length);
    else if (value->type == GT_JSON_STRING)
        yajl_gen_string(text, (const unsigned char *)value->text, value->length);
    else
        return gt_error_set(error, "\"arguments\": \"%.*s\" must be a number or a word",
                            key->length < SHOWN ? (int)key->length : SHOWN, key->text);
    return 0;
}

/* The arguments as a text without spaces, in the order given, so that equal ones are one name. */
static int read_arguments(struct gt_workload *workload, const struct gt_json_token *object, uint32_t *arguments,
                          struct gt_error *error)
{
    yajl_gen text = yajl_gen_alloc(NULL);
    const unsigned char *bytes;
    size_t length;
    int result = 0;

    yajl_gen_map_open(text);
    for (const struct gt_json_token *key = object + 1; key < object + object->span && result == 0;
         key += 1 + key[1].span) {
        yajl_gen_string(text, (const unsigned char *)key->text, key->length);
        result = read_argument(key, text, error);
    }
    yajl_gen_map_close(text);
    if (result == 0 && yajl_gen_get_buf(text, &bytes, &length) == yajl_gen_status_ok)
        *arguments = gt_name(workload, (const char *)bytes, length);
    yajl_gen_free(text);
    return result;
}

int gt_jsonl_library(struct gt_jsonl *jsonl, const struct gt_json_token *runs, const struct gt_json_token *arguments,
                     uint32_t *runs_name, uint32_t *arguments_name, struct gt_error *error)
{
    if (runs != NULL && runs->type == GT_JSON_STRING)
        *runs_name = gt_name(jsonl->workload, runs->text, runs->length);
    if (arguments == NULL)
        return 0;
    if (*runs_name == GT_NONE)
        return gt_error_set(error,
                            "\"arguments\" without \"runs\", which names the kernel of the library that takes them");
    return read_arguments(jsonl->workload, arguments, arguments_name, error);
}

int gt_jsonl_use_program(struct gt_jsonl *jsonl, const struct gt_json_token *ref, const struct gt_program **program,
                         struct gt_error *error)
{
    uint32_t index;
    char valid[400];

    if (ref == NULL || ref->type == GT_JSON_NULL)
        return 0;
    index = gt_refs_find(jsonl->programs, ref, NULL);
    if (index == GT_NONE) {
        gt_refs_list(jsonl->programs, valid, sizeof valid);
        return gt_error_set(error, "no program %.*s has been defined above this line; defined so far:%s",
                            ref->length < SHOWN ? (int)ref->length : SHOWN, ref->text,
                            valid[0] != '\0' ? valid : " none");
    }
    *program = jsonl->workload->programs[index];
    return 0;
}

/* What `gridtide record` cost, in the header. */

struct raw_recording {
    uint64_t calls, calls_ns, overhead_ns;
    const struct gt_json_token *measured;
};
static const struct gt_field recording_fields[] = {
    { "calls", GT_FIELD_U64, offsetof(struct raw_recording, calls), NULL, 0 },
    { "calls_ns", GT_FIELD_U64, offsetof(struct raw_recording, calls_ns), NULL, 0 },
    { "cupti_overhead_ns", GT_FIELD_U64, offsetof(struct raw_recording, overhead_ns), NULL, 0 },
    { "measured_ns", GT_FIELD_OBJECT, offsetof(struct raw_recording, measured), NULL, 0 },
};
static const struct gt_field_table recording_table = GT_FIELD_TABLE("\"recording\"", recording_fields);

/* [without, with] recording. */
static int read_pair(const struct gt_json_token *list, uint64_t *plain_ns, uint64_t *recorded_ns,
                     struct gt_error *error)
{
    gt_time_ps time_ps[2];

    if (list->type != GT_JSON_ARRAY || list->span != 3)
        return gt_error_set(error, "\"measured_ns\" needs two times per kind: without and with recording");
    for (int i = 0; i < 2; i++)
        if (gt_field_time(&list[1 + i], 3, "measured_ns", &time_ps[i], error) != 0)
            return -1;
    *plain_ns = time_ps[0] / 1000;
    *recorded_ns = time_ps[1] / 1000;
    return 0;
}

/* Sorts that this program does not know are left out. */
static int read_measured(struct gt_recording_cost *recording, const struct gt_json_token *object,
                         struct gt_error *error)
{
    for (const struct gt_json_token *key = object + 1; key < object + object->span; key += 1 + key[1].span) {
        uint64_t plain_ns = 0, recorded_ns = 0;

        if (read_pair(key + 1, &plain_ns, &recorded_ns, error) != 0)
            return -1;
        for (int i = 0; i < GT_RECORDING_SORTS; i++) {
            const char *name = gt_recording_sort_names[i];

            if (strlen(name) != key->length || memcmp(name, key->text, key->length) != 0)
                continue;
            recording->plain_ns[i] = plain_ns;
            recording->recorded_ns[i] = recorded_ns;
            recording->measured = true;
        }
    }
    return 0;
}

int gt_jsonl_recording(struct gt_jsonl *jsonl, const struct gt_json_token *object, struct gt_error *error)
{
    struct gt_recording_cost *recording = &jsonl->workload->recording;
    struct raw_recording raw = { .measured = NULL };
    struct gt_unknown unknown = { 0 };
    uint64_t given;
    int result = gt_fields_read(object, &recording_table, jsonl->line, &raw, &given, &unknown, error);

    free(unknown.text);
    *recording = (struct gt_recording_cost){
        .known = true, .calls = raw.calls, .calls_ns = raw.calls_ns, .overhead_ns = raw.overhead_ns
    };
    return result != 0 || raw.measured == NULL ? result : read_measured(recording, raw.measured, error);
}
