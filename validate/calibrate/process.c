/* process.c - findings as lines of fields between tabs; several sets of them made one. */
#include "validate/calibrate/process.h"

#include <stdlib.h>
#include <string.h>

#include "validate/calibrate/product_table.h"

enum { FIELDS_MOST = 9, PROCESSES_MOST = 16 };

/* Tabs and newlines part fields and lines, so a text has none. */
static void send_text(FILE *out, const char *text)
{
    for (; *text != '\0'; text++)
        fputc(*text == '\t' || *text == '\n' ? ' ' : *text, out);
}

static void send_line(FILE *out, const char *kind, const char *text)
{
    fprintf(out, "%s\t", kind);
    send_text(out, text);
    fputc('\n', out);
}

void gt_calibration_send_progress(FILE *out, const char *group, size_t done)
{
    fprintf(out, "progress\t%zu\t%s\n", done, group);
    fflush(out);
}

static void send_finding(FILE *out, size_t row, const struct gt_finding *finding)
{
    fprintf(out, "finding\t%zu\t%d\t%.17g\t%.17g\t%.17g\t%zu\t", row, finding->known, finding->summary.median,
            finding->summary.low, finding->summary.high, finding->summary.count);
    send_text(out, finding->value != NULL ? finding->value : "");
    fputc('\t', out);
    send_text(out, finding->method);
    fputc('\n', out);
}

static void send_product(FILE *out, const struct gt_product_point *point)
{
    const struct gt_product *p = &point->product;
    fprintf(out, "product\t%d\t%d\t%.0f\t%.0f\t%.0f\t%.0f\t%.17g\n", (int)p->precision, (int)p->form, p->batch, p->m,
            p->n, p->k, point->us);
}

void gt_calibration_send(FILE *out, const struct gt_calibration *calibration, const struct gt_error *error)
{
    if (error != NULL) {
        send_line(out, "error", error->text);
    } else {
        send_line(out, "when", calibration->when);
        send_line(out, "system", calibration->system);
        for (size_t i = 0; i < calibration->note_count; i++)
            send_line(out, "note", calibration->notes[i]);
        for (size_t i = 0; i < gt_device_key_count; i++)
            send_finding(out, i, &calibration->findings[i]);
        send_line(out, "library", calibration->library);
        for (uint32_t i = 0; i < calibration->product_count; i++)
            send_product(out, &calibration->products[i]);
        send_line(out, "end", "");
    }
    fflush(out);
}

/* Where lines go. */
struct receiver {
    struct gt_calibration *calibration;
    const struct gt_calibration_options *options;
    size_t earlier, total;
    struct gt_error *error;
    bool ended, failed;
};

static void take_progress(struct receiver *receiver, char **fields)
{
    if (receiver->options->progress != NULL)
        receiver->options->progress(receiver->options->user, fields[1],
                                    receiver->earlier + strtoul(fields[0], NULL, 10), receiver->total);
}

static void take_finding(struct receiver *receiver, char **fields)
{
    size_t row = strtoul(fields[0], NULL, 10);
    if (row >= gt_device_key_count)
        return;
    struct gt_finding *finding = &receiver->calibration->findings[row];
    finding->known = fields[1][0] == '1';
    finding->summary = (struct gt_bench_summary){ strtod(fields[2], NULL), strtod(fields[3], NULL),
                                                  strtod(fields[4], NULL), strtoul(fields[5], NULL, 10) };
    free(finding->value);
    finding->value = fields[6][0] != '\0' ? strdup(fields[6]) : NULL;
    snprintf(finding->method, sizeof(finding->method), "%s", fields[7]);
}

static void take_when(struct receiver *receiver, char **fields)
{
    snprintf(receiver->calibration->when, sizeof(receiver->calibration->when), "%s", fields[0]);
}

static void take_system(struct receiver *receiver, char **fields)
{
    snprintf(receiver->calibration->system, sizeof(receiver->calibration->system), "%s", fields[0]);
}

static void take_note(struct receiver *receiver, char **fields)
{
    gt_found_note(receiver->calibration, "%s", fields[0]);
}

static void take_library(struct receiver *receiver, char **fields)
{
    snprintf(receiver->calibration->library, sizeof(receiver->calibration->library), "%s", fields[0]);
}

static void take_product(struct receiver *receiver, char **fields)
{
    const struct gt_product_point point = {
        { (enum gt_precision)strtoul(fields[0], NULL, 10), (enum gt_product_form)strtoul(fields[1], NULL, 10),
          strtod(fields[2], NULL), strtod(fields[3], NULL), strtod(fields[4], NULL), strtod(fields[5], NULL) },
        strtod(fields[6], NULL),
    };
    if (point.product.precision < GT_PRECISIONS_SWEPT && point.product.form < GT_PRODUCT_FORMS)
        gt_found_product(receiver->calibration, &point);
}

static void take_error(struct receiver *receiver, char **fields)
{
    gt_error_set(receiver->error, "%s", fields[0]);
    receiver->failed = true;
}

static void take_end(struct receiver *receiver, char **fields)
{
    (void)fields;
    receiver->ended = true;
}

static const struct {
    const char *kind;
    int fields;
    void (*take)(struct receiver *receiver, char **fields);
} lines[] = {
    { "progress", 2, take_progress }, { "finding", 8, take_finding }, { "when", 1, take_when },
    { "system", 1, take_system },     { "note", 1, take_note },       { "error", 1, take_error },
    { "library", 1, take_library },   { "product", 7, take_product }, { "end", 1, take_end },
};

static void take_line(struct receiver *receiver, char *line)
{
    char *fields[FIELDS_MOST] = { NULL };
    int count = 0;
    line[strcspn(line, "\n")] = '\0';
    for (char *field; count < FIELDS_MOST && (field = strsep(&line, "\t")) != NULL; count++)
        fields[count] = field;
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        if (count == lines[i].fields + 1 && strcmp(fields[0], lines[i].kind) == 0)
            lines[i].take(receiver, fields + 1);
}

int gt_calibration_receive(FILE *in, struct gt_calibration *calibration, const struct gt_calibration_options *options,
                           size_t earlier, size_t total, struct gt_error *error)
{
    struct receiver receiver = { calibration, options, earlier, total, error, false, false };
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, in) > 0)
        take_line(&receiver, line);
    free(line);
    if (receiver.failed)
        return -1;
    if (!receiver.ended)
        return gt_error_set(error, "the process that measured ended early");
    return 0;
}

static int by_number(const void *a, const void *b)
{
    const struct gt_finding *left = *(const struct gt_finding *const *)a,
                            *right = *(const struct gt_finding *const *)b;
    double x = strtod(left->value, NULL), y = strtod(right->value, NULL);
    return (x > y) - (x < y);
}

static void combine_numbers(const struct gt_finding **found, size_t count, struct gt_finding *one)
{
    double medians[PROCESSES_MOST];
    qsort(found, count, sizeof(*found), by_number);
    const struct gt_finding *middle = found[(count - 1) / 2];
    one->value = strdup(middle->value);
    memcpy(one->method, middle->method, sizeof(one->method));
    one->summary = (struct gt_bench_summary){ 0, middle->summary.low, middle->summary.high, 0 };
    for (size_t i = 0; i < count; i++) {
        medians[i] = found[i]->summary.median;
        one->summary.low = found[i]->summary.low < one->summary.low ? found[i]->summary.low : one->summary.low;
        one->summary.high = found[i]->summary.high > one->summary.high ? found[i]->summary.high : one->summary.high;
        one->summary.count += found[i]->summary.count;
    }
    one->summary.median = gt_summarise(medians, count).median;
}

static void combine_row(const struct gt_calibration *all, size_t count, size_t row, struct gt_calibration *one)
{
    const struct gt_finding *found[PROCESSES_MOST];
    struct gt_finding *into = &one->findings[row];
    size_t values = 0;
    for (size_t i = 0; i < count && values < PROCESSES_MOST; i++)
        if (all[i].findings[row].value != NULL)
            found[values++] = &all[i].findings[row];
    if (values == 0) {
        *into = all[0].findings[row];
        return;
    }
    if (found[0]->summary.count > 0) {
        combine_numbers(found, values, into);
        return;
    }
    *into = *found[0];
    into->value = strdup(found[0]->value);
    for (size_t i = 1; i < values; i++)
        if (strcmp(found[i]->value, found[0]->value) != 0) {
            gt_found_note(one, "%s: a later process found %.80s", gt_device_keys[row].key, found[i]->value);
            return;
        }
}

void gt_calibration_combine(const struct gt_calibration *all, size_t count, struct gt_calibration *one)
{
    gt_calibration_init(one);
    memcpy(one->when, all[0].when, sizeof(one->when));
    memcpy(one->system, all[0].system, sizeof(one->system));
    memcpy(one->library, all[0].library, sizeof(one->library));
    gt_product_table_combine(all, count, one);
    for (size_t i = 0; i < all[0].note_count; i++)
        gt_found_note(one, "%s", all[0].notes[i]);
    for (size_t row = 0; row < gt_device_key_count; row++)
        combine_row(all, count, row, one);
}
