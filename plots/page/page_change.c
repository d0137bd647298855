/* The top of a page about a what-if: what was changed, before and after. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "plots/page/page_table.h"
#include "plots/page/parts.h"
#include "sim/base/array.h"
#include "traces/names/short_name.h"
#include "traces/store/database.h"
#include "traces/store/query.h"
#include "traces/store/store.h"

struct gt_scenario_row {
    char *change; /* as it was asked for */
    int64_t run_id;
    double time_ps; /* from the first call or operation to the last end */
    double step_ps; /* of a step; NAN where the store does not say */
    char *trust, *bound_by;
    char **assumptions;
    uint32_t assumption_count, assumption_room;
};

struct gt_scenarios {
    struct gt_scenario_row *rows; /* the fastest first; of equal ones the older */
    size_t count, room;
    double before_ps; /* a step of the run without a change */
};

/* The runs of a store that are changes of one run: how long each takes. */

static const char prefix[] = "whatif ";

/* What `gridtide whatif` was asked for, of a run's options; NULL: another command made the run. */
static const char *scenario_change(const char *options)
{
    return strncmp(options, prefix, sizeof prefix - 1) == 0 ? options + sizeof prefix - 1 : NULL;
}

/* From the first call or operation to the last end. */
static int find_time(struct gt_database *database, int64_t run, double *time_ps, struct gt_error *error)
{
    static const char sql[] = "SELECT max(last) - min(first) FROM"
                              " (SELECT min(start_ps) AS first, max(end_ps) AS last FROM run_op WHERE run_id = ?1"
                              " UNION ALL SELECT min(start_ps), max(end_ps) FROM run_call WHERE run_id = ?1)";
    int64_t found = 0;
    int result = gt_query_one(database, sql, run, 0, &found, error);

    *time_ps = (double)found;
    return result < 0 ? -1 : 0;
}

static int by_time(const void *a, const void *b)
{
    const struct gt_scenario_row *left = a, *right = b;

    if (left->time_ps != right->time_ps)
        return left->time_ps < right->time_ps ? -1 : 1;
    return (left->run_id > right->run_id) - (left->run_id < right->run_id);
}

static int add_run(struct gt_scenarios *scenarios, struct gt_database *database, struct gt_query *query,
                   struct gt_error *error)
{
    const char *options = gt_query_string(query, 1), *change = options != NULL ? scenario_change(options) : NULL;
    struct gt_scenario_row row = { .run_id = gt_query_integer(query, 0) };

    if (change == NULL)
        return 0;
    if (find_time(database, row.run_id, &row.time_ps, error) != 0)
        return -1;
    row.change = gt_strdup(change);
    row.step_ps = NAN;
    gt_array_grow(scenarios->rows, scenarios->count, scenarios->room);
    scenarios->rows[scenarios->count++] = row;
    return 0;
}

/* What the answer was graded, and why. */
static int load_answer(struct gt_scenario_row *row, struct gt_database *database, struct gt_error *error)
{
    struct gt_query *query = gt_query_new(database,
                                          "SELECT trust, bound_by, step_us, s.text FROM run_answer a"
                                          " LEFT JOIN run_assumption s USING (run_id) WHERE a.run_id = ?1"
                                          " ORDER BY s.assumption_no",
                                          error);
    int found = query == NULL ? -1 : 1;

    if (query != NULL)
        gt_query_bind(query, 1, row->run_id);
    while (found == 1 && (found = gt_query_next(query, error)) == 1) {
        if (row->trust == NULL) {
            row->trust = gt_query_text(query, 0);
            row->bound_by = gt_query_text(query, 1);
            row->step_ps = gt_query_real(query, 2) * 1e6;
        }
        if (gt_query_absent(query, 3))
            continue;
        gt_array_grow(row->assumptions, row->assumption_count, row->assumption_room);
        row->assumptions[row->assumption_count++] = gt_query_text(query, 3);
    }
    gt_query_end(query);
    return found;
}

/* Stores of older versions do not tell. */
static int load_answers(struct gt_scenarios *scenarios, struct gt_database *database, struct gt_error *error)
{
    int64_t version = 0;

    if (gt_query_one(database, "PRAGMA user_version", 0, 0, &version, error) < 0)
        return -1;
    for (size_t i = 0; version >= GT_STORE_WITH_ANSWERS && i < scenarios->count; i++)
        if (load_answer(&scenarios->rows[i], database, error) != 0)
            return -1;
    return 0;
}

/* The changes of run `before` that `gridtide whatif -o` kept: none of other runs.  Returns 0 or -1; free in either
 * case. */
static int scenarios_load(struct gt_scenarios *scenarios, struct gt_database *database, int64_t before,
                          struct gt_error *error)
{
    struct gt_query *query = gt_query_new(
        database,
        "SELECT r.run_id, r.options FROM counter c JOIN run r ON r.run_id = c.run_id"
        " WHERE c.name = '" GT_COUNTER_WITHOUT_RUN "' AND c.value = ?1 AND r.whole = 1 ORDER BY r.run_id",
        error);
    int result = query == NULL ? -1 : 0;

    *scenarios = (struct gt_scenarios){ .rows = NULL };
    if (result == 0) {
        gt_query_bind(query, 1, before);
        result = find_time(database, before, &scenarios->before_ps, error);
    }
    while (result == 0 && (result = gt_query_next(query, error)) == 1)
        result = add_run(scenarios, database, query, error);
    gt_query_end(query);
    if (scenarios->count > 0)
        qsort(scenarios->rows, scenarios->count, sizeof *scenarios->rows, by_time);
    return result == 0 ? load_answers(scenarios, database, error) : -1;
}

static void scenarios_free(struct gt_scenarios *scenarios)
{
    for (size_t i = 0; i < scenarios->count; i++) {
        struct gt_scenario_row *row = &scenarios->rows[i];

        free(row->change);
        free(row->trust);
        free(row->bound_by);
        for (uint32_t j = 0; j < row->assumption_count; j++)
            free(row->assumptions[j]);
        free(row->assumptions);
    }
    free(scenarios->rows);
    *scenarios = (struct gt_scenarios){ .rows = NULL };
}

/* Is the option `word` (of `length` bytes) among `options`, which spaces keep apart? */
static bool has_option(const char *options, const char *word, size_t length)
{
    for (size_t part; *options != '\0'; options += part + (options[part] == ' ')) {
        part = strcspn(options, " ");
        if (part == length && strncmp(options, word, length) == 0)
            return true;
    }
    return false;
}

/* "streams=4" as it is typed: "--streams 4". */
static void write_option(FILE *out, const char *word, size_t length)
{
    char *text = strndup(word, length), *equals = strchr(text, '=');

    if (equals != NULL)
        *equals = strcmp(equals, "=on") == 0 ? '\0' : ' ';
    fputs("<code>--", out);
    gt_html(out, text);
    fputs("</code>", out);
    free(text);
}

/* What of `options` the others have not, after `word`; returns how much that is. */
static unsigned write_options(FILE *out, const char *options, const char *others, const char *word)
{
    unsigned count = 0;

    for (size_t part; *options != '\0'; options += part + (options[part] == ' ')) {
        part = strcspn(options, " ");
        if (part == 0 || has_option(others, options, part))
            continue;
        fprintf(out, "%s", count++ == 0 ? word : ", ");
        write_option(out, options, part);
    }
    return count;
}

/* What `gridtide run` was told. */
static unsigned write_difference(const struct gt_page *page)
{
    const struct gt_stats *before = page->view->beside->stats, *after = page->view->subject->stats;
    FILE *out = page->out;
    unsigned said = 0;

    if (strcmp(before->run.device.name, after->run.device.name) != 0) {
        fputs("On ", out);
        gt_html(out, after->run.device.name);
        fputs(" instead of ", out);
        gt_html(out, before->run.device.name);
        said++;
    }
    said += write_options(out, after->run.options, before->run.options, said > 0 ? ", with " : "With ");
    said += write_options(out, before->run.options, after->run.options, said > 0 ? ", without " : "Without ");
    return said;
}

/* The answer that the page shows before and after; NULL where `gridtide whatif` did not make it. */
static const struct gt_scenario_row *shown_row(const struct gt_page *page, const struct gt_scenarios *scenarios)
{
    for (size_t i = 0; i < scenarios->count; i++)
        if (scenarios->rows[i].run_id == page->view->subject->stats->run.run_id)
            return &scenarios->rows[i];
    return NULL;
}

static void write_headline(const struct gt_page *page, const struct gt_scenarios *scenarios, const char *change)
{
    double before_ps = (double)page->view->beside->stats->summary.makespan_ps;
    double after_ps = (double)page->view->subject->stats->summary.makespan_ps;
    FILE *out = page->out;
    unsigned said = 1;

    fputs("<p class=\"headline\">", out);
    if (change != NULL) {
        fputs("With <code>", out);
        gt_html(out, change);
        fputs("</code>", out);
        before_ps = scenarios->before_ps;
        if (shown_row(page, scenarios) != NULL)
            after_ps = shown_row(page, scenarios)->time_ps;
    } else {
        said = write_difference(page);
    }
    fprintf(out, "%s<strong>%s</strong> instead of <strong>%s</strong>: <strong>%s</strong>.</p>\n",
            said > 0 ? ": " : "", gt_time_text(after_ps).s, gt_time_text(before_ps).s,
            gt_signed_pct_text(before_ps > 0 ? 100 * (after_ps - before_ps) / before_ps : NAN).s);
}

/* How far to trust it: the run without the change, where it can be held against something. */
static void write_basis(const struct gt_page *page, const char *change)
{
    const struct gt_comparison *comparison = &page->view->comparison;

    fputs("<p>Both runs are simulated, so this is a change, not an error.", page->out);
    if (change != NULL)
        fputs(" Times are from the first call to the last end, without profiler overhead.", page->out);
    else if (comparison->matched > 0)
        fprintf(page->out, " The recorded time is %s; the run without the change deviates by %s.",
                gt_time_text(comparison->makespan_measured_us * 1e6).s,
                gt_signed_pct_text(comparison->makespan_error_pct).s);
    else
        fputs(" The trace has no recorded times, so the error of the run without the change is unknown.", page->out);
    fputs("</p>\n", page->out);
}

static void write_word(FILE *out, const char *word)
{
    fputs("<td>", out);
    gt_html(out, word != NULL ? word : "–");
    fputs("</td>", out);
}

static void write_scenario(FILE *out, const struct gt_scenario_row *row, double before_ps, double longest_ps)
{
    fputs("<tr><th scope=\"row\" class=\"name\">", out);
    gt_html(out, row->change);
    fprintf(out, "</th><td>%s</td><td>%s</td><td>%s</td>", gt_time_text(row->time_ps).s,
            row->time_ps == before_ps ? "–" : gt_signed_pct_text(100 * (row->time_ps - before_ps) / before_ps).s,
            isnan(row->step_ps) ? "–" : gt_time_text(row->step_ps).s);
    write_word(out, row->trust);
    write_word(out, row->bound_by);
    fprintf(out, "<td class=\"bar\"><span style=\"width:%.1f%%\"></span></td></tr>\n",
            100 * row->time_ps / longest_ps);
}

/* How far the answer is to be trusted, and what it rests on. */
static void write_trust(const struct gt_page *page, const struct gt_scenarios *scenarios)
{
    const struct gt_scenario_row *row = shown_row(page, scenarios);
    FILE *out = page->out;

    if (row == NULL || row->trust == NULL)
        return;
    fputs("<p>Trust in this answer: <strong>", out);
    gt_html(out, row->trust);
    fprintf(out, "</strong>%s</p>\n", row->assumption_count > 0 ? ". It assumes:" : "; it assumes nothing.");
    if (row->assumption_count == 0)
        return;
    fputs("<ul class=\"findings\" id=\"assumptions\">\n", out);
    for (uint32_t i = 0; i < row->assumption_count; i++) {
        fputs("<li>", out);
        gt_html(out, row->assumptions[i]);
        fputs("</li>\n", out);
    }
    fputs("</ul>\n", out);
}

/* All that was asked, on one scale. */
static void write_scenarios(FILE *out, const struct gt_scenarios *scenarios)
{
    static const char *const heads[] = {
        "Change", "Time", "Change", "A step", "Trust", "Bound by", "On a common scale", NULL
    };
    struct gt_scenario_row before = { .change = (char *)"as recorded, without profiler overhead",
                                      .time_ps = scenarios->before_ps,
                                      .step_ps = NAN };
    double longest_ps = scenarios->before_ps;

    for (size_t i = 0; i < scenarios->count; i++)
        longest_ps = fmax(longest_ps, scenarios->rows[i].time_ps);
    if (scenarios->count < 2 || scenarios->before_ps <= 0)
        return;
    gt_page_table_begin(
        out, "scenarios", "All requested changes",
        "Times from the first call to the last end, fastest first; the rest of this page shows the first one.",
        heads);
    write_scenario(out, &before, scenarios->before_ps, longest_ps);
    for (size_t i = 0; i < scenarios->count; i++)
        write_scenario(out, &scenarios->rows[i], scenarios->before_ps, longest_ps);
    gt_page_table_end(out, "whatif", 0, 0);
}

static void write_row(FILE *out, const char *what, struct gt_text before, struct gt_text after, double from,
                      double to)
{
    fprintf(out, "<tr><th scope=\"row\">%s</th>", what);
    gt_page_cell(out, before);
    gt_page_cell(out, after);
    gt_page_cell(out,
                 from > 0 && isfinite(to) ? gt_signed_pct_text(100 * (to - from) / from) : (struct gt_text){ "–" });
    fputs("</tr>\n", out);
}

static void write_table(const struct gt_page *page)
{
    static const char *const heads[] = { "", "Before", "After", "Change", NULL };
    const struct gt_stats *before = page->view->beside->stats, *after = page->view->subject->stats;
    const struct gt_stats_summary *from = &before->summary, *to = &after->summary;
    const struct {
        const char *what;
        gt_time_ps from_ps, to_ps;
    } times[] = {
        { "First start to last end", from->makespan_ps, to->makespan_ps },
        { "GPU busy", from->busy_ps, to->busy_ps },
        { "Kernels running", from->kernel_ps, to->kernel_ps },
        { "Copies running", from->copy_ps, to->copy_ps },
        { "Kernels and copies overlapped", from->overlap_ps, to->overlap_ps },
        { "Host threads blocked", from->blocked_ps, to->blocked_ps },
    };

    gt_page_table_begin(page->out, "change", "Before and after",
                        "Busy, running: time in which at least one was active. Blocked: sum over host threads.",
                        heads);
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++)
        if (times[i].from_ps > 0 || times[i].to_ps > 0)
            write_row(page->out, times[i].what, gt_time_text((double)times[i].from_ps),
                      gt_time_text((double)times[i].to_ps), (double)times[i].from_ps, (double)times[i].to_ps);
    if (before->sm_count > 0 && after->sm_count > 0)
        write_row(page->out, "Mean SM occupancy", gt_share_text(gt_page_mean_occupancy(before)),
                  gt_share_text(gt_page_mean_occupancy(after)), gt_page_mean_occupancy(before),
                  gt_page_mean_occupancy(after));
    gt_page_table_end(page->out, "stats", 0, 0);
}

int gt_page_change_answer(const struct gt_page *page, struct gt_error *error)
{
    const char *change = scenario_change(page->view->subject->stats->run.options);
    struct gt_scenarios scenarios;
    int result = scenarios_load(&scenarios, page->view->database, page->view->beside->stats->run.run_id, error);

    if (result == 0) {
        write_headline(page, &scenarios, change);
        write_basis(page, change);
        write_trust(page, &scenarios);
        write_scenarios(page->out, &scenarios);
        write_table(page);
        gt_page_use(page);
    }
    scenarios_free(&scenarios);
    return result;
}
