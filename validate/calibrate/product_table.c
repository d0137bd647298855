#include "validate/calibrate/product_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "traces/io/product_file.h"

static int compare(double a, double b)
{
    return (a > b) - (a < b);
}

static int by_product(const void *a, const void *b)
{
    const struct gt_product *x = &((const struct gt_product_point *)a)->product,
                            *y = &((const struct gt_product_point *)b)->product;
    const double sides[][2] = { { x->precision, y->precision },
                                { x->form, y->form },
                                { x->batch, y->batch },
                                { x->m, y->m },
                                { x->n, y->n },
                                { x->k, y->k } };

    for (size_t i = 0; i < sizeof sides / sizeof sides[0]; i++)
        if (compare(sides[i][0], sides[i][1]) != 0)
            return compare(sides[i][0], sides[i][1]);
    return 0;
}

/* Points first to last - 1 are the same product: they become one. Returns how far they lie apart. */
static double merge(const struct gt_product_point *points, uint32_t first, uint32_t last, struct gt_product_point *to)
{
    double *us = gt_calloc(last - first, sizeof *us), apart;
    struct gt_bench_summary summary;

    for (uint32_t i = first; i < last; i++)
        us[i - first] = points[i].us;
    summary = gt_summarise(us, last - first);
    apart = (us[last - first - 1] - us[0]) / summary.median;
    *to = (struct gt_product_point){ points[first].product, summary.median };
    free(us);
    return apart;
}

void gt_product_table_combine(const struct gt_calibration *all, size_t count, struct gt_calibration *one)
{
    uint32_t kept = 0, next, several = 0;
    double *apart;

    for (size_t i = 0; i < count; i++)
        for (uint32_t p = 0; p < all[i].product_count; p++)
            gt_found_product(one, &all[i].products[p]);
    if (one->product_count > 0)
        qsort(one->products, one->product_count, sizeof *one->products, by_product);
    apart = gt_calloc(one->product_count + 1ull, sizeof *apart);
    for (uint32_t first = 0; first < one->product_count; first = next) {
        for (next = first + 1; next < one->product_count; next++)
            if (by_product(&one->products[first], &one->products[next]) != 0)
                break;
        apart[several] = merge(one->products, first, next, &one->products[kept++]);
        several += next - first > 1;
    }
    one->product_count = kept;
    one->products_apart = gt_summarise(apart, several);
    free(apart);
}

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

/* A line of a key file is not much longer. */
enum { LONGEST_NAME = 160 };

bool gt_product_table_is_possible(const char *device_path)
{
    struct stat status;

    return strcmp(device_path, "-") != 0 && strlen(base_of(device_path)) <= LONGEST_NAME &&
           (stat(device_path, &status) != 0 || S_ISREG(status.st_mode));
}

char *gt_product_table_name(const char *device_path, bool folder)
{
    const char *from = folder ? device_path : base_of(device_path);
    size_t length = strlen(from), ending = strlen(".ini");
    char *name;

    if (length > ending && strcmp(from + length - ending, ".ini") == 0)
        length -= ending;
    if (asprintf(&name, "%.*s-products.csv.zst", (int)length, from) < 0)
        gt_no_memory("a file name");
    return name;
}

static int write_points(const struct gt_calibration *calibration, struct gt_output *output, struct gt_error *error)
{
    const char *chip = gt_finding_of(calibration, "chip.name")->value;
    char *comment;
    int status;

    if (asprintf(
            &comment,
            "# gridtide calibrate: %u matrix products of %s, measured on an %s, %s, %s\n"
            "# us: median of three launches of all its kernels, as CUPTI has them, after one that does not count\n",
            calibration->product_count, calibration->library, chip != NULL ? chip : "unnamed GPU", calibration->when,
            calibration->system) < 0)
        gt_no_memory("a comment");
    status = gt_product_points_write(calibration->products, calibration->product_count, comment, output, error);
    free(comment);
    return status;
}

struct gt_output *gt_product_table_write(const struct gt_calibration *calibration, const char *device_path,
                                         struct gt_error *error)
{
    char *path = gt_product_table_name(device_path, true);
    struct gt_output *output = gt_output_open(path, error);

    free(path);
    if (output != NULL && write_points(calibration, output, error) != 0) {
        gt_output_abandon(output);
        output = NULL;
    }
    return output;
}
