#include "validate/random/kernel_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_gen.h>
#include <yajl/yajl_tree.h>

#include "sim/base/array.h"
#include "sim/workload/workload.h"
#include "traces/jsonl/trace.h"

enum { KERNELS_LEAST = 3 };

/* What calls name the kernel by: its id, a text or a number; without one its name. */
static char *id_of(yajl_val kernel)
{
    yajl_val id = yajl_tree_get(kernel, (const char *[]){ "id", NULL }, yajl_t_any);
    const char *name =
        YAJL_GET_STRING(id != NULL ? id : yajl_tree_get(kernel, (const char *[]){ "kernel", NULL }, yajl_t_string));
    const unsigned char *text;
    yajl_gen gen;
    size_t length;
    char *copy;

    if (name == NULL)
        return gt_format("%s", YAJL_GET_NUMBER(id));
    gen = yajl_gen_alloc(NULL);
    yajl_gen_string(gen, (const unsigned char *)name, strlen(name));
    yajl_gen_get_buf(gen, &text, &length);
    copy = gt_format("%.*s", (int)length, (const char *)text);
    yajl_gen_free(gen);
    return copy;
}

/* Keep the line where it defines a kernel. */
static void take_line(struct gt_kernel_list *list, const char *line)
{
    yajl_val object = yajl_tree_parse(line, NULL, 0);

    if (object != NULL && yajl_tree_get(object, (const char *[]){ "call", NULL }, yajl_t_any) == NULL &&
        yajl_tree_get(object, (const char *[]){ "kernel", NULL }, yajl_t_string) != NULL) {
        gt_array_grow(list->kernels, list->count, list->room);
        list->kernels[list->count++] = (struct gt_listed_kernel){ gt_format("%s", line), id_of(object) };
    }
    yajl_tree_free(object);
}

int gt_kernel_list_read(const char *path, struct gt_kernel_list *list, struct gt_error *error)
{
    struct gt_workload *checked = gt_trace_read(path, NULL, error);
    FILE *file = checked != NULL ? fopen(path, "r") : NULL;
    size_t room = 0;
    char *line = NULL;

    *list = (struct gt_kernel_list){ .count = 0 };
    gt_workload_free(checked);
    if (file == NULL)
        return checked != NULL ? gt_error_set(error, "%s: cannot be read again", path) : -1;
    while (getline(&line, &room, file) >= 0) {
        line[strcspn(line, "\r\n")] = '\0';
        take_line(list, line);
    }
    free(line);
    fclose(file);
    if (list->count >= KERNELS_LEAST)
        return 0;
    gt_error_set(error, "%s: defines %u kernels, where pairs and triples are drawn among %d or more", path,
                 list->count, KERNELS_LEAST);
    gt_kernel_list_free(list);
    return -1;
}

void gt_kernel_list_free(struct gt_kernel_list *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        free(list->kernels[i].line);
        free(list->kernels[i].id);
    }
    free(list->kernels);
    *list = (struct gt_kernel_list){ .count = 0 };
}
