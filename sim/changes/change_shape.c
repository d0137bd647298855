/* shape=OPERATOR:DIMS: an operator's calls get inputs of other sizes, and no other operator's do. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "sim/changes/change.h"
#include "sim/changes/resize.h"
#include "sim/shapes/roles.h"

enum { KEPT = UINT8_MAX };
static const uint64_t largest_side = UINT64_C(1) << 40;

struct asked {                      /* of one input */
    uint64_t size[GT_TENSOR_SIDES]; /* 0: stays */
    uint8_t sides;                  /* KEPT: all of it stays */
};

struct question {
    struct gt_resize r;
    char *pattern, *around; /* of the operator's name; of a range around it, NULL: any */
    const char *dims;       /* as asked */
    struct asked asked[GT_MOST_INPUTS];
    int count;
    uint64_t fitting, others; /* calls that get these sizes; calls by that name with other numbers of sides */
};

/* "4096", "_" or "*" up to an x, a comma or the end; *text moves behind it. */
static bool read_side(const char **text, uint64_t *side)
{
    *side = 0;
    if (**text == '_' || **text == '*') {
        ++*text;
        return true;
    }
    if (**text < '1' || **text > '9')
        return false;
    for (; **text >= '0' && **text <= '9'; ++*text) {
        *side = 10 * *side + (uint64_t)(**text - '0');
        if (*side > largest_side)
            return false;
    }
    return true;
}

static bool read_input(const char **text, struct asked *asked)
{
    if (**text == '\0' || **text == ',') { /* nothing: stays */
        asked->sides = KEPT;
        return true;
    }
    do {
        if (asked->sides == GT_TENSOR_SIDES || !read_side(text, &asked->size[asked->sides++]))
            return false;
    } while (*(*text)++ == 'x');
    --*text;
    if (asked->sides == 1 && asked->size[0] == 0)
        asked->sides = KEPT;
    return **text == '\0' || **text == ',';
}

static bool read_dims(struct question *q, const char *text)
{
    for (;;) {
        if (q->count == GT_MOST_INPUTS || !read_input(&text, &q->asked[q->count++]))
            return false;
        if (*text == '\0')
            return true;
        text++;
    }
}

/* "[RANGE>]OPERATOR:DIMS"; names of operators have colons, too. */
static int read_argument(struct question *q, const char *argument, struct gt_error *error)
{
    const char *colon = strrchr(argument, ':'), *inner = strchr(argument, '>');

    q->dims = colon != NULL ? colon + 1 : "";
    if (colon == NULL || colon == argument || colon[-1] == ':' || *q->dims == '\0' || !read_dims(q, q->dims))
        return gt_error_set(
            error, "'%.60s' is no OPERATOR:DIMS, such as aten::mm:4096x512,512x2048; _ keeps a side or an input",
            argument);
    inner = inner != NULL && inner < colon ? inner + 1 : argument;
    q->pattern = gt_strndup(inner, (size_t)(colon - inner));
    if (inner != argument)
        q->around = gt_strndup(argument, (size_t)(inner - 1 - argument));
    return 0;
}

static bool fits_name(const char *pattern, const char *name)
{
    return fnmatch(pattern, name, 0) == 0 || (strncmp(name, "aten::", 6) == 0 && fnmatch(pattern, name + 6, 0) == 0);
}

static bool is_named(const struct question *q, gt_range_index range)
{
    const struct gt_workload *w = q->r.scenario->workload;

    if (!fits_name(q->pattern, gt_name_text(w, w->ranges[range].name)))
        return false;
    for (gt_range_index outer = w->ranges[range].parent; q->around != NULL; outer = w->ranges[outer].parent) {
        if (outer == GT_NONE)
            return false;
        if (fits_name(q->around, gt_name_text(w, w->ranges[outer].name)))
            return true;
    }
    return true;
}

/* Has each input that gets sizes as many sides as were asked for? */
static bool has_sides(const struct question *q, const struct gt_inputs *inputs)
{
    if (inputs->count < q->count)
        return false;
    for (int i = 0; i < q->count; i++)
        if (q->asked[i].sides != KEPT &&
            (!inputs->tensors[i].is_tensor || inputs->tensors[i].sides != q->asked[i].sides))
            return false;
    return true;
}

/* gt_resize_rule */
static void follow(const void *how, gt_range_index range, struct gt_inputs *to)
{
    const struct question *q = how;

    *to = *gt_inputs_of(&q->r.inputs, range);
    if (!is_named(q, range) || !has_sides(q, to))
        return;
    for (int i = 0; i < q->count; i++)
        for (int j = 0; q->asked[i].sides != KEPT && j < q->asked[i].sides; j++)
            if (q->asked[i].size[j] != 0)
                to->tensors[i].size[j] = q->asked[i].size[j];
}

static int check_product(const char *name, const struct gt_inputs *to, struct gt_error *error)
{
    int first = gt_product_first(name);
    const struct gt_tensor *left = &to->tensors[first < 0 ? 0 : first], *right = left + 1;

    if (first < 0 || first + 1 >= to->count || left->sides != right->sides || left->sides < 2 ||
        left->size[left->sides - 1] == right->size[right->sides - 2])
        return 0;
    return gt_error_set(error, "'%s' cannot multiply matrices of %llu columns and %llu rows", name,
                        (unsigned long long)left->size[left->sides - 1],
                        (unsigned long long)right->size[right->sides - 2]);
}

/* The kernels may be of operators that the named one calls. */
static int check_launches(const struct question *q, struct gt_error *error)
{
    const struct gt_workload *w = q->r.scenario->workload;
    gt_range_index inner = GT_NONE;

    for (gt_call_index i = 0; i < w->call_count; i++) {
        gt_range_index range = q->r.inputs.operator_of[i];

        if (w->calls[i].ops == 0 || range == GT_NONE)
            continue;
        if (is_named(q, range))
            return 0;
        for (gt_range_index outer = w->ranges[range].parent; outer != GT_NONE; outer = w->ranges[outer].parent)
            if (is_named(q, outer))
                inner = range;
    }
    if (inner == GT_NONE)
        return gt_error_set(error, "operators named '%.60s' launch nothing", q->pattern);
    return gt_error_set(error, "'%.60s' launches nothing itself; operators that it calls do, such as '%.60s'",
                        q->pattern, gt_name_text(w, w->ranges[inner].name));
}

static int check(struct question *q, struct gt_error *error)
{
    const struct gt_workload *w = q->r.scenario->workload;

    for (gt_range_index i = 0; i < w->range_count; i++) {
        const struct gt_inputs *from = gt_inputs_of(&q->r.inputs, i);
        struct gt_inputs to;

        if (from == NULL || !is_named(q, i))
            continue;
        q->others += !has_sides(q, from);
        q->fitting += has_sides(q, from);
        follow(q, i, &to);
        if (has_sides(q, from) && check_product(gt_operator_name(w, i), &to, error) != 0)
            return -1;
    }
    if (q->fitting + q->others == 0)
        return gt_error_set(error, "no operator with recorded inputs has the name '%.60s'", q->pattern);
    if (q->fitting == 0)
        return gt_error_set(error, "none of %llu calls by that name has inputs with as many sides as %.60s",
                            (unsigned long long)q->others, q->dims);
    return check_launches(q, error);
}

static int answer(struct question *q, struct gt_error *error)
{
    if (check(q, error) != 0)
        return -1;
    q->r.parameters = 1;
    if (gt_resize_apply(&q->r, follow, q, error) != 0)
        return -1;
    gt_scenario_assume(q->r.scenario, GT_TRUST_HIGH, "%llu calls of '%s' get inputs of %s; they had others in %llu",
                       (unsigned long long)q->fitting, q->pattern, q->dims, (unsigned long long)q->r.changed);
    if (q->others > 0)
        gt_scenario_assume(q->r.scenario, GT_TRUST_HIGH,
                           "%llu calls by that name have other numbers of sides, and stay",
                           (unsigned long long)q->others);
    gt_scenario_assume(q->r.scenario, GT_TRUST_MEDIUM,
                       "All other operators stay as recorded, those that work on their results too");
    gt_resize_assume(&q->r);
    return 0;
}

static int apply(struct gt_scenario *scenario, const char *argument, struct gt_error *error)
{
    struct question q = { .count = 0 };
    int result = read_argument(&q, argument, error);

    if (result == 0) {
        result = gt_resize_begin(&q.r, scenario, error);
        if (result == 0)
            result = answer(&q, error);
        gt_resize_end(&q.r);
    }
    free(q.pattern);
    free(q.around);
    return result;
}

const struct gt_change_kind gt_change_shape = {
    .name = "shape",
    .argument = "OPERATOR:DIMS",
    .takes = GT_ARGUMENT_NEEDED,
    .help = "give the calls of one operator inputs of these sizes: aten::mm:4096x512,512x2048; _ keeps a side or an "
            "input",
    .allocates = true,
    .apply = apply,
};
