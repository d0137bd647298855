#include "traces/tasks/tasks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traces/io/data_path.h"
#include "traces/tasks/internal.h"

enum { SURE = 100 };

/* The fields by which the two are known. */
static const char amk_sign[] = "\"ir_version\"", mirage_signs[][16] = { "\"all_tasks\"", "\"all_events\"" };

static int sniff(const unsigned char *head, size_t bytes)
{
    size_t at = 0;

    while (at < bytes && strchr(" \t\r\n", head[at]) != NULL && head[at] != '\0')
        at++;
    if (at == bytes || head[at] != '{')
        return 0;
    if (memmem(head, bytes, amk_sign, strlen(amk_sign)) != NULL)
        return SURE;
    for (size_t i = 0; i < sizeof mirage_signs / sizeof *mirage_signs; i++)
        if (memmem(head, bytes, mirage_signs[i], strlen(mirage_signs[i])) != NULL)
            return SURE;
    return 0;
}

int gt_task_import_error(struct gt_task_import *import, const struct gt_json_token *object, struct gt_error *error)
{
    return gt_error_prefix(error, "%u: ", gt_document_line(&import->document, object));
}

gt_task_kind_index gt_task_import_kind(struct gt_task_import *import, const struct gt_json_token *name)
{
    gt_task_kind_index kind = gt_refs_find(import->kinds, name, NULL);

    if (kind != GT_NONE)
        return kind;
    kind = gt_task_graph_add_kind(import->graph, gt_name(import->workload, name->text, name->length));
    gt_refs_add(import->kinds, name, kind, 0);
    return kind;
}

/* One thread, one stream, one launch. */
static void add_launch(struct gt_task_import *import)
{
    struct gt_workload *workload = import->workload;
    struct gt_kernel kernel = { .grid = { import->workers, 1, 1 }, .block = { import->threads, 1, 1 } };
    gt_thread_index thread;
    gt_stream_index stream;
    gt_call_index call;
    gt_op_index op;

    kernel.name = gt_name(workload, import->kernel, strlen(import->kernel));
    kernel.dynamic_shared_bytes = import->shared_bytes;
    kernel.duration_ps = GT_TIME_NONE;
    kernel.runs = kernel.arguments = GT_NONE;
    kernel.tasks = import->graph;
    kernel.task_policy = gt_name(workload, import->policy, strlen(import->policy));
    gt_workload_add_gpu(workload);
    thread = gt_workload_add_thread(workload);
    workload->threads[thread].name = gt_name(workload, "main", 4);
    stream = gt_workload_add_stream(workload);
    workload->streams[stream].flags = GT_STREAM_LEGACY_DEFAULT;
    call = gt_workload_add_call(workload);
    workload->calls[call].kind = GT_CALL_LAUNCH;
    workload->calls[call].thread = thread;
    workload->calls[call].stream = stream;
    workload->calls[call].first_op = workload->op_count;
    workload->calls[call].ops = 1;
    op = gt_workload_add_op(workload);
    workload->ops[op].kind = GT_OP_KERNEL;
    workload->ops[op].call = call;
    workload->ops[op].stream = stream;
    workload->ops[op].kernel = gt_workload_kernel(workload, &kernel);
}

/* What the check says begins with "line N: " where it knows the line. */
static int check(const struct gt_workload *workload, struct gt_error *error)
{
    struct gt_error wrong;
    unsigned line;
    int behind = 0;

    if (gt_workload_check(workload, &wrong) == 0)
        return 0;
    if (sscanf(wrong.text, "line %u: %n", &line, &behind) == 1 && behind > 0)
        return gt_error_set(error, "%u: %.900s", line, wrong.text + behind);
    return gt_error_set(error, " %.900s", wrong.text);
}

static int read_graph(struct gt_task_import *import, const char *path, struct gt_error *error)
{
    bool amk = gt_document_field(import->document.root, "ir_version") != NULL;
    char *name = gt_path_stem(path);
    int status;

    import->workload->source = strdup(amk ? "automegakernel" : "mirage");
    import->workload->name = name;
    import->kinds = gt_refs_new();
    import->graph = gt_task_graph_new(gt_name(import->workload, name, strlen(name)));
    status = amk ? gt_automegakernel_read(import, error) : gt_mirage_read(import, error);
    gt_refs_free(import->kinds);
    gt_workload_add_task_graph(import->workload, import->graph);
    if (status != 0)
        return -1;
    add_launch(import);
    return check(import->workload, error);
}

static struct gt_workload *read_tasks(const char *path, const struct gt_import_options *options,
                                      struct gt_error *error)
{
    struct gt_workload *workload = gt_workload_new();
    struct gt_task_import import = { .workload = workload };
    int status = gt_document_read(&import.document, path, options, error);

    if (status == 0) {
        status = read_graph(&import, path, error);
        if (status != 0)
            gt_error_prefix(error, "%s:", path);
    }
    gt_document_close(&import.document);
    free(import.unknown.text);
    workload->path = strdup(path);
    if (status == 0)
        return workload;
    gt_workload_free(workload);
    return NULL;
}

const struct gt_importer gt_importer_tasks = {
    .name = "tasks",
    .help = "a megakernel's task graph: AutoMegaKernel's IR, Mirage's task_graph.json",
    .sniff = sniff,
    .read = read_tasks,
};

/* Kinds of tasks by what they do and how large that is. */

enum { MOST_PARAMS = 64 };

/* Parameters that say where a task's part lies, or with what numbers it reckons, but not how much it does. */
static const char *const no_sizes[] = { "n_off", "pos", "kv_start", "eps", "theta", "scale" };

static bool is_size(const struct gt_json_token *key)
{
    if (key[1].type != GT_JSON_NUMBER)
        return false;
    for (size_t i = 0; i < sizeof no_sizes / sizeof no_sizes[0]; i++)
        if (key->length == strlen(no_sizes[i]) && memcmp(key->text, no_sizes[i], key->length) == 0)
            return false;
    return true;
}

gt_task_kind_index gt_task_import_shaped_kind(struct gt_task_import *import, const struct gt_json_token *op,
                                              const struct gt_json_token *params)
{
    char *name = gt_strndup(op->text, op->length);
    struct gt_json_token whole = *op;
    gt_task_kind_index kind;

    if (params != NULL && params->type == GT_JSON_OBJECT) {
        uint32_t count = 0;

        for (const struct gt_json_token *key = params + 1; key < params + params->span && count < MOST_PARAMS;
             key += 1 + key[1].span) {
            char *longer;

            if (!is_size(key))
                continue;
            longer = gt_format("%s %.*s=%.*s", name, (int)key->length, key->text, (int)key[1].length, key[1].text);
            free(name);
            name = longer;
            count++;
        }
    }
    whole.text = name;
    whole.length = (uint32_t)strlen(name);
    kind = gt_task_import_kind(import, &whole);
    free(name);
    return kind;
}
