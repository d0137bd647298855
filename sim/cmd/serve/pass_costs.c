#include "sim/cmd/serve/pass_costs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cmd/input/inquiry.h"
#include "sim/devices/kernel_bound.h"

struct gt_pass_template {
    struct gt_inquiry inquiry;
    struct gt_whatif whatif;
    struct gt_model_options model;
    double products; /* the part of its kernels' time that matrix products take */
};

/* Smallest sizes of the grids; in between there are the powers of two. */
enum { LEAST_SEQUENCES = 1, LEAST_CONTEXT = 64, LEAST_TOKENS = 16, AXIS_MAX = 64 };
/* A node is derived from so many recorded passes. */
enum { NEAREST = 3 };
enum { SPECS = 3, SPEC_BYTES = 64 };

static double products_of(const struct gt_workload *workload)
{
    double all_ps = 0, products_ps = 0;

    for (gt_op_index i = 0; i < workload->op_count; i++) {
        const struct gt_op *op = &workload->ops[i];
        gt_time_ps ps = op->kind == GT_OP_KERNEL ? gt_op_stated_ps(workload, op) : GT_TIME_NONE;

        if (ps == GT_TIME_NONE)
            continue;
        all_ps += (double)ps;
        if (gt_kernel_family_of(gt_name_text(workload, workload->kernels[op->kernel].name)) == GT_FAMILY_GEMM)
            products_ps += (double)ps;
    }
    return all_ps > 0 ? products_ps / all_ps : 0;
}

static int read_template(struct gt_pass_template *template, const struct gt_recorded_pass *pass,
                         const struct gt_engine_file *file, const struct gt_model_options *model,
                         struct gt_error *error)
{
    static const char *const none[] = { NULL };
    struct gt_whatif_subject subject;

    template->model = *model;
    if (template->model.device == NULL)
        template->model.device = file->device;
    if (gt_inquiry_begin(&template->inquiry, pass->trace, &template->model, none, true, error) != 0)
        return -1;
    subject = gt_inquiry_subject(&template->inquiry, &template->model, false);
    if (gt_whatif_begin(&template->whatif, &subject, error) != 0)
        return gt_error_prefix(error, "%s: ", pass->trace);
    template->products = products_of(subject.workload);
    if (!(template->whatif.step_us > 0))
        return gt_error_set(error, "%s: nothing in it takes any time", pass->trace);
    return 0;
}

struct gt_pass_template *gt_pass_templates_read(const struct gt_engine_file *file,
                                                const struct gt_model_options *model, struct gt_error *error)
{
    struct gt_pass_template *templates = gt_calloc(file->pass_count + 1ull, sizeof *templates);
    struct gt_progress progress;
    uint32_t read = 0;

    gt_progress_begin(&progress, "replaying passes", model->quiet);
    while (read < file->pass_count && read_template(&templates[read], &file->passes[read], file, model, error) == 0)
        gt_progress_update(&progress, ++read, file->pass_count);
    gt_progress_end(&progress);
    if (read == file->pass_count)
        return templates;
    gt_pass_templates_free(templates, read + 1);
    return NULL;
}

void gt_pass_templates_free(struct gt_pass_template *templates, uint32_t count)
{
    for (uint32_t i = 0; templates != NULL && i < count; i++) {
        gt_whatif_free(&templates[i].whatif);
        gt_inquiry_free(&templates[i].inquiry);
    }
    free(templates);
}

const struct gt_device *gt_pass_template_device(const struct gt_pass_template *templates)
{
    return &templates->inquiry.device;
}

/* One grid in the making. */
struct finding {
    const struct gt_engine_file *file;
    const struct gt_pass_template *templates;
    enum gt_pass_kind kind;
    uint32_t sms;
    struct gt_pass_grid *grid;
    struct gt_pass_sources *sources;
};

/* The recorded sizes and powers of two from `least` until they reach `most`; `depths`: of the other axis. */
static uint32_t *make_axis(const struct finding *finding, bool depths, uint32_t least, uint32_t most, uint32_t *count)
{
    uint32_t *axis = gt_calloc(finding->file->pass_count + AXIS_MAX, sizeof *axis);

    *count = 0;
    for (uint32_t i = 0; i < finding->file->pass_count; i++)
        if (finding->file->passes[i].kind == finding->kind)
            axis[(*count)++] = depths ? finding->file->passes[i].depth : finding->file->passes[i].size;
    for (uint64_t value = least;; value *= 2) {
        axis[(*count)++] = (uint32_t)value;
        if (value >= most)
            break;
    }
    *count = gt_pass_axis(axis, *count);
    return axis;
}

/* How far apart two sizes are: doublings.  From a recorded 1 the sides that follow are hard to tell. */
static double distance(uint32_t from, uint32_t to)
{
    return from == to ? 0 : fabs(log2(to / (double)from)) + (from == 1 ? 2 : 0);
}

/* The changes that lead from a recorded pass to a node, into specs[]; returns how many.  Tokens of a prompt may be rows of a matrix, which
 * follow a batch, or the sides of a sequence: `rows` asks for both. */
static size_t write_changes(const struct finding *finding, const struct gt_recorded_pass *pass, uint32_t size,
                            uint32_t depth, bool rows, char specs[][SPEC_BYTES])
{
    bool decode = finding->kind == GT_PASS_DECODE;
    size_t count = 0;

    if (size != pass->size && (decode || rows))
        snprintf(specs[count++], SPEC_BYTES, "batch=%u:%u", pass->size, size);
    if (size != pass->size && !decode)
        snprintf(specs[count++], SPEC_BYTES, "seq=%u:%u", pass->size, size);
    if (decode && depth != pass->depth)
        snprintf(specs[count++], SPEC_BYTES, "seq=%u:%u", pass->depth, depth);
    if (finding->sms > 0)
        snprintf(specs[count++], SPEC_BYTES, "chip.sms=%u", finding->sms);
    return count;
}

/* What the recorded pass takes at other sizes; NAN: it cannot be derived, the reason in `error`. */
static double derive(const struct finding *finding, uint32_t template, uint32_t size, uint32_t depth, bool rows,
                     struct gt_error *error)
{
    const struct gt_whatif *whatif = &finding->templates[template].whatif;
    struct gt_change changes[SPECS];
    char specs[SPECS][SPEC_BYTES];
    size_t count = write_changes(finding, &finding->file->passes[template], size, depth, rows, specs);
    enum gt_trust trust;
    double us;

    if (count == 0)
        return whatif->step_us;
    for (size_t i = 0; i < count; i++)
        if (gt_change_parse(specs[i], &changes[i], error) != 0)
            return NAN;
    if (gt_whatif_step(whatif, changes, count, &us, &trust, error) != 0)
        return rows ? derive(finding, template, size, depth, false, error) : NAN;
    if (trust > finding->sources->trust)
        finding->sources->trust = trust;
    return us;
}

/* The recorded pass nearest to a node that was not tried, of those with as many tokens before it; GT_NONE: there is none.  How far it is
 * into *far. */
static uint32_t nearest(const struct finding *finding, uint32_t size, uint32_t depth, const bool *tried, double *far)
{
    uint32_t found = GT_NONE;

    for (uint32_t i = 0; i < finding->file->pass_count; i++) {
        const struct gt_recorded_pass *pass = &finding->file->passes[i];
        bool decode = finding->kind == GT_PASS_DECODE;
        double own = distance(pass->size, size) + (decode ? distance(pass->depth, depth) : 0);

        if (pass->kind != finding->kind || tried[i] || (!decode && pass->depth != depth))
            continue;
        if (found == GT_NONE || own < *far) {
            found = i;
            *far = own;
        }
    }
    return found;
}

/* The part of matrix products is as in the recorded passes of the kind, the nearer the more. */
static double products_at(const struct finding *finding, uint32_t size, uint32_t depth)
{
    double sum = 0, weights = 0;

    for (uint32_t i = 0; i < finding->file->pass_count; i++) {
        const struct gt_recorded_pass *pass = &finding->file->passes[i];
        double far = distance(pass->size, size) + distance(pass->depth + 1, depth + 1);

        if (pass->kind != finding->kind)
            continue;
        if (far == 0)
            return finding->templates[i].products;
        sum += finding->templates[i].products / (far * far);
        weights += 1 / (far * far);
    }
    return weights > 0 ? sum / weights : 0;
}

/* A node that was recorded is what it takes; another one is derived from the nearest recorded passes, the nearer the more. */
static void find_node(struct finding *finding, uint32_t size_at, uint32_t depth_at)
{
    struct gt_pass_grid *grid = finding->grid;
    uint32_t size = grid->sizes[size_at], depth = grid->depths[depth_at], template, used = 0;
    bool *tried = gt_calloc(finding->file->pass_count + 1ull, sizeof *tried), recorded = false;
    double sum = 0, weights = 0, far = 0;
    struct gt_error error;

    while (used < NEAREST && !recorded && (template = nearest(finding, size, depth, tried, &far)) != GT_NONE) {
        double us = derive(finding, template, size, depth, finding->kind == GT_PASS_PREFILL, &error);

        tried[template] = true;
        if (isnan(us)) {
            if (finding->sources->refusal == NULL)
                finding->sources->refusal =
                    gt_format("%s at %u x %u: %s", finding->file->passes[template].trace, size, depth, error.text);
            continue;
        }
        recorded = far == 0;
        used++;
        sum += recorded ? us : us / (far * far);
        weights += recorded ? 1 : 1 / (far * far);
    }
    if (used > 0)
        grid->us[(size_t)size_at * grid->depth_count + depth_at] = sum / weights;
    grid->products[(size_t)size_at * grid->depth_count + depth_at] = products_at(finding, size, depth);
    finding->sources->recorded += recorded;
    finding->sources->derived += used > 0 && !recorded;
    free(tried);
}

/* Tokens in the cache before a prompt's add in proportion to both numbers, as attention's products do; how much, recorded passes
 * tell. */
static void fill_before(struct finding *finding)
{
    struct gt_pass_grid *grid = finding->grid;
    double sum_us = 0, sum = 0;

    for (uint32_t s = 0; s < grid->size_count; s++)
        for (uint32_t d = 1; d < grid->depth_count; d++) {
            double added_us = grid->us[(size_t)s * grid->depth_count + d] - grid->us[(size_t)s * grid->depth_count];

            if (grid->depths[0] == 0 && !isnan(added_us)) {
                sum_us += added_us;
                sum += (double)grid->sizes[s] * grid->depths[d];
            }
        }
    finding->sources->before_unknown = sum == 0;
    for (uint32_t s = 0; s < grid->size_count; s++)
        for (uint32_t d = 1; d < grid->depth_count; d++) {
            double *row = &grid->us[(size_t)s * grid->depth_count];

            if (grid->depths[0] == 0 && isnan(row[d]))
                row[d] = row[0] + (sum > 0 ? fmax(0, sum_us / sum) * grid->sizes[s] * grid->depths[d] : 0);
        }
}

static void find_grid(struct finding *finding, const struct gt_pass_limits *limits, struct gt_progress *progress)
{
    bool decode = finding->kind == GT_PASS_DECODE;
    uint32_t size_count, depth_count;
    uint32_t *sizes = make_axis(finding, false, decode ? LEAST_SEQUENCES : LEAST_TOKENS,
                                decode ? limits->sequences : limits->tokens, &size_count);
    uint32_t *depths = decode ? make_axis(finding, true, LEAST_CONTEXT, limits->context, &depth_count) : NULL;

    if (!decode) {
        depths = make_axis(finding, true, limits->before, limits->before, &depth_count);
        depths[depth_count++] = 0;
        depth_count = gt_pass_axis(depths, depth_count);
    }
    *finding->grid = gt_pass_grid_new(sizes, size_count, depths, depth_count);
    for (uint32_t i = 0; i < size_count; i++) {
        for (uint32_t j = 0; j < depth_count; j++)
            find_node(finding, i, j);
        gt_progress_update(progress, i + 1, size_count);
    }
    if (!decode)
        fill_before(finding);
    finding->sources->interpolated += gt_pass_grid_fill(finding->grid);
}

int gt_pass_costs_find(const struct gt_engine_file *file, const struct gt_pass_template *templates,
                       const struct gt_pass_limits *limits, uint32_t sms, bool quiet, struct gt_pass_costs *costs,
                       struct gt_pass_sources *sources, struct gt_error *error)
{
    struct gt_progress progress;

    memset(costs, 0, sizeof *costs);
    memset(sources, 0, sizeof *sources);
    costs->between_us = file->between_us;
    for (int kind = 0; kind < GT_PASS_KINDS; kind++) {
        struct finding finding = { file, templates, (enum gt_pass_kind)kind, sms, &costs->grids[kind], sources };

        gt_progress_begin(&progress, "simulating passes", quiet);
        find_grid(&finding, limits, &progress);
        gt_progress_end(&progress);
        if (isnan(costs->grids[kind].us[0]))
            return gt_error_set(error, "no pass of %s could be simulated: %s", gt_pass_kind_names[kind],
                                sources->refusal != NULL ? sources->refusal : "none is recorded");
    }
    return 0;
}

void gt_pass_costs_free(struct gt_pass_costs *costs, struct gt_pass_sources *sources)
{
    for (int kind = 0; kind < GT_PASS_KINDS; kind++)
        gt_pass_grid_free(&costs->grids[kind]);
    free(sources->refusal);
    sources->refusal = NULL;
}
