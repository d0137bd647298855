#include "sim/changes/change_grid.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/error.h"

/* How long the value at the start of `text` is: to a comma outside of brackets.  *open: how many were not closed. */
static size_t value_length(const char *text, int *open)
{
    int depth = 0;
    size_t length = 0;

    for (; text[length] != '\0' && (text[length] != ',' || depth > 0); length++) {
        if (strchr("<([{", text[length]) != NULL)
            depth++;
        else if (depth > 0 && strchr(">)]}", text[length]) != NULL)
            depth--;
    }
    *open = depth;
    return length;
}

/* Does the change of that name do without a value? */
static bool switches(const char *name)
{
    struct gt_change change;
    struct gt_error ignored;

    return gt_change_parse(name, &change, &ignored) == 0 && change.kind->takes != GT_ARGUMENT_NEEDED;
}

static bool is_known(const struct gt_grid_parameter *parameter, const char *text)
{
    for (uint32_t i = 0; i < parameter->count; i++)
        if (strcmp(parameter->values[i].text, text) == 0)
            return true;
    return false;
}

/* `name` is the change's, which the parameter's may differ from.  Owns `text`. */
static int add_value(struct gt_grid_parameter *parameter, const char *name, char *text, struct gt_error *error)
{
    struct gt_grid_value *value;
    bool known = is_known(parameter, text), bare = switches(name);

    if (known || text[0] == '\0' || parameter->count == GT_GRID_VALUES_MAX) {
        gt_error_set(error, "--over %.200s: %s'%.200s'", name,
                     known             ? "the same value twice: "
                     : text[0] == '\0' ? "a value is missing; values stand between commas: "
                                       : "more than 1000 values, the first too many is ",
                     text);
        free(text);
        return -1;
    }
    parameter->values = gt_realloc(parameter->values, parameter->count + 1, sizeof *parameter->values);
    value = &parameter->values[parameter->count++];
    *value = (struct gt_grid_value){ .text = text };
    if (bare && strcmp(text, "off") == 0)
        return 0;
    value->spec = bare && strcmp(text, "on") == 0 ? gt_strdup(name) : gt_format("%s=%s", name, text);
    if (gt_change_parse(value->spec, &value->change, error) == 0)
        return 0;
    return gt_error_prefix(error, "--over: ");
}

static int add_values(struct gt_grid_parameter *parameter, const char *name, const char *texts,
                      struct gt_error *error)
{
    for (;;) {
        int open;
        size_t length = value_length(texts, &open);

        if (open > 0)
            return gt_error_set(error, "--over %.200s: a bracket is not closed: '%.200s'", name, texts);
        if (add_value(parameter, name, gt_strndup(texts, length), error) != 0)
            return -1;
        if (texts[length] == '\0')
            return 0;
        texts += length + 1;
    }
}

/* A second parameter of a name is told from the first by a number. */
static char *own_name(const struct gt_change_grid *grid, const char *name)
{
    char *own = gt_strdup(name);
    unsigned number = 1;

    for (uint32_t i = 0; i < grid->count; i++) {
        if (strcmp(grid->parameters[i].name, own) != 0)
            continue;
        free(own);
        own = gt_format("%s#%u", name, ++number);
    }
    return own;
}

static int fill(struct gt_grid_parameter *parameter, const char *name, const char *values, struct gt_error *error)
{
    struct gt_change change;

    if (values != NULL)
        return add_values(parameter, name, values, error);
    if (gt_change_parse(name, &change, error) != 0)
        return gt_error_prefix(error, "--over: ");
    return add_values(parameter, name, "off,on", error);
}

int gt_change_grid_add(struct gt_change_grid *grid, const char *over, struct gt_error *error)
{
    const char *equals = strchr(over, '=');
    struct gt_grid_parameter *parameter;
    char *name;
    int result;

    if (grid->count == GT_GRID_PARAMETERS_MAX)
        return gt_error_set(error, "more than %d parameters (--over)", GT_GRID_PARAMETERS_MAX);
    name = equals != NULL ? gt_strndup(over, (size_t)(equals - over)) : gt_strdup(over);
    parameter = &grid->parameters[grid->count];
    *parameter = (struct gt_grid_parameter){ .name = own_name(grid, name) };
    grid->count++;
    result = fill(parameter, name, equals != NULL ? equals + 1 : NULL, error);
    free(name);
    if (result != 0)
        return -1;
    grid->points *= parameter->count;
    if (grid->points > GT_SWEEP_POINTS_MAX)
        return gt_error_set(error, "a grid of more than %d points; ask for fewer values", GT_SWEEP_POINTS_MAX);
    return 0;
}

void gt_change_grid_free(struct gt_change_grid *grid)
{
    for (uint32_t i = 0; i < grid->count; i++) {
        struct gt_grid_parameter *parameter = &grid->parameters[i];

        for (uint32_t j = 0; j < parameter->count; j++) {
            free(parameter->values[j].text);
            free(parameter->values[j].spec);
        }
        free(parameter->values);
        free(parameter->name);
    }
    *grid = (struct gt_change_grid)GT_GRID_EMPTY;
}

static uint32_t value_at(const struct gt_change_grid *grid, uint64_t point, uint32_t parameter)
{
    for (uint32_t i = grid->count; i-- > parameter + 1;)
        point /= grid->parameters[i].count;
    return (uint32_t)(point % grid->parameters[parameter].count);
}

uint32_t gt_change_grid_at(const struct gt_change_grid *grid, uint64_t point,
                           struct gt_change changes[GT_GRID_PARAMETERS_MAX])
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < grid->count; i++) {
        const struct gt_grid_value *value = &grid->parameters[i].values[value_at(grid, point, i)];

        if (value->spec != NULL)
            changes[count++] = value->change;
    }
    return count;
}
