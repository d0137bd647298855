#include "traces/io/product_file.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "traces/io/csv.h"
#include "traces/io/data_path.h"

static const char *const columns[] = { "precision", "form", "batch", "m", "n", "k", "us" };
enum { COLUMNS = sizeof columns / sizeof columns[0], NUMBERS = COLUMNS - 2 };

static int check_header(const struct gt_csv *csv, struct gt_error *error)
{
    for (uint32_t i = 0; i < COLUMNS; i++)
        if (strcmp(gt_csv_field(csv, i), columns[i]) != 0)
            return gt_error_set(error, "column %u is '%.40s', not %s", i + 1, gt_csv_field(csv, i), columns[i]);
    return 0;
}

/* Which of the texts the field is; -1 with those that there are. */
static int choice_of(const struct gt_csv *csv, uint32_t field, const char *const *texts, int count,
                     struct gt_error *error)
{
    for (int i = 0; i < count; i++)
        if (strcmp(gt_csv_field(csv, field), texts[i]) == 0)
            return i;
    return gt_error_set(error, "there is no %s '%.40s'; the first is %s", columns[field], gt_csv_field(csv, field),
                        texts[0]);
}

static int add_point(struct gt_product_sweep *sweep, const struct gt_csv *csv, struct gt_error *error)
{
    int precision = choice_of(csv, 0, gt_precision_names, GT_PRECISIONS, error);
    int form = precision < 0 ? -1 : choice_of(csv, 1, gt_product_form_names, GT_PRODUCT_FORMS, error);
    double numbers[NUMBERS];

    if (form < 0)
        return -1;
    for (uint32_t i = 0; i < NUMBERS; i++)
        if (!gt_csv_number(gt_csv_field(csv, i + 2), &numbers[i]) || !(numbers[i] > 0 && numbers[i] < 1e12))
            return gt_error_set(error, "%s is '%.40s', not a number above 0", columns[i + 2],
                                gt_csv_field(csv, i + 2));
    gt_array_grow(sweep->points, sweep->count, sweep->room);
    sweep->points[sweep->count++] = (struct gt_product_point){
        { (enum gt_precision)precision, (enum gt_product_form)form, numbers[0], numbers[1], numbers[2], numbers[3] },
        numbers[4],
    };
    return 0;
}

/* Lines before the names, where the table is from. */
static int skip_comments(struct gt_csv *csv, struct gt_error *error)
{
    int more;

    do
        more = gt_csv_next(csv, error);
    while (more > 0 && gt_csv_field(csv, 0)[0] == '#');
    return more;
}

static int read_points(struct gt_product_sweep *sweep, struct gt_csv *csv, struct gt_error *error)
{
    int more = skip_comments(csv, error);

    if (more == 0)
        return gt_error_set(error, "the table is empty");
    if (more < 0 || check_header(csv, error) != 0)
        return -1;
    while ((more = gt_csv_next(csv, error)) > 0)
        if (add_point(sweep, csv, error) != 0)
            return -1;
    return more;
}

static int read_file(struct gt_product_sweep *sweep, const char *path, struct gt_error *error)
{
    struct gt_input *input = gt_input_open(path, error);
    struct gt_csv csv;
    int result;

    if (input == NULL)
        return -1;
    gt_csv_open(&csv, input);
    result = read_points(sweep, &csv, error);
    if (result != 0)
        gt_error_prefix(error, "%s:%llu: ", path, (unsigned long long)csv.line);
    gt_csv_close(&csv);
    gt_input_close(input);
    return result;
}

int gt_product_sweep_load(const struct gt_device *device, struct gt_product_sweep **sweep, struct gt_error *error)
{
    const char *name = device->product.sweep;
    char *path;
    int result;

    *sweep = gt_product_sweep_new(device);
    if (strcmp(name, "none") == 0)
        return 0;
    result = -1;
    path = strchr(name, '/') != NULL ? gt_strdup(name) : gt_data_path("devices", name);
    if (path == NULL)
        gt_error_set(error, "there is no table of products %s, which the device file of %s names (product.sweep)",
                     name, device->name);
    else
        result = read_file(*sweep, path, error);
    free(path);
    if (result != 0) {
        gt_product_sweep_free(*sweep);
        *sweep = NULL;
    }
    return result;
}

int gt_product_points_write(const struct gt_product_point *points, uint32_t count, const char *comment,
                            struct gt_output *output, struct gt_error *error)
{
    int status = gt_output_printf(output, error, "%s", comment);

    for (int i = 0; i < COLUMNS && status == 0; i++)
        status = gt_output_printf(output, error, "%s%c", columns[i], i + 1 < COLUMNS ? ',' : '\n');
    for (uint32_t i = 0; i < count && status == 0; i++) {
        const struct gt_product *p = &points[i].product;

        status = gt_output_printf(output, error, "%s,%s,%.0f,%.0f,%.0f,%.0f,%.4g\n", gt_precision_names[p->precision],
                                  gt_product_form_names[p->form], p->batch, p->m, p->n, p->k, points[i].us);
    }
    return status;
}
