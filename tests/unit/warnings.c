/* The table of warnings: sorted, whole, and word for word in gridtide-traces(7). */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "traces/import/warnings.h"
#include "traces/importers.h"

enum { PAGE_BYTES = 64 << 10 };

/* One line of the page: escapes as the letters that they show, a macro's name away. */
static size_t take_line(const char *line, char *text)
{
    size_t length = 0;

    if (strncmp(line, ".B ", 3) == 0)
        text[length++] = '\001'; /* a kind begins, and cannot be taken for a word of a text */
    if (*line == '.')
        line += strcspn(line, " \n");
    for (; *line != '\0'; line++) {
        if (*line == '\\')
            text[length++] = *++line == 'e' ? '\\' : *line;
        else if (!isspace((unsigned char)*line) || (length > 0 && text[length - 1] != ' '))
            text[length++] = isspace((unsigned char)*line) ? ' ' : *line;
    }
    return length;
}

/* The section WARNINGS of the page as running text. */
static char *page(void)
{
    const char *source = getenv("GRIDTIDE_SOURCE");
    char path[4096], line[4096], *text = calloc(1, PAGE_BYTES);
    bool within = false;
    size_t length = 0;
    FILE *file;

    snprintf(path, sizeof path, "%s/sim/man/gridtide-traces.7", source != NULL ? source : ".");
    file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, ".SH ", 4) == 0)
            within = strcmp(line, ".SH WARNINGS\n") == 0;
        else if (within && length + sizeof line < PAGE_BYTES)
            length += take_line(line, text + length);
    }
    fclose(file);
    return text;
}

/* The entry of a kind, up to the next one's; malloced. */
static char *entry_of(const char *text, const char *kind)
{
    char heading[64];
    const char *at;
    int length = snprintf(heading, sizeof heading, "\001 %s ", kind);

    at = strstr(text, heading);
    if (at == NULL)
        fail_msg("%s is not in gridtide-traces(7)", kind);
    at += length;
    return strndup(at, strcspn(at, "\001"));
}

static void must_hold(const char *entry, const char *kind, const char *who, const char *what)
{
    char *sought = NULL;

    if (asprintf(&sought, "%s%s.", who, what) < 0)
        abort();
    if (strstr(entry, sought) == NULL)
        fail_msg("%s: gridtide-traces(7) does not say \"%s\"", kind, sought);
    free(sought);
}

static void the_manual_has_every_warning(void **state)
{
    char *text = page();

    (void)state;
    for (const struct gt_warning_kind *row = gt_warning_kinds; row->kind != NULL; row++) {
        char *entry = entry_of(text, row->kind), who[32] = "Remedy: ";

        if (row->source != NULL)
            snprintf(who, sizeof who, "%s: ", row->source);
        must_hold(entry, row->kind, "", row->text);
        if (row->remedy != NULL)
            must_hold(entry, row->kind, who, row->remedy);
        free(entry);
    }
    free(text);
}

static void the_manual_has_no_other_warning(void **state)
{
    char *text = page();
    unsigned kinds = 0, headings = 0;

    (void)state;
    for (const struct gt_warning_kind *row = gt_warning_kinds; row->kind != NULL; row++)
        kinds += row == gt_warning_kinds || strcmp(row->kind, row[-1].kind) != 0;
    for (const char *at = text; *at != '\0'; at++)
        headings += *at == '\001';
    assert_int_equal(headings, kinds);
    free(text);
}

static void the_table_is_sorted_and_its_sources_are_importers(void **state)
{
    (void)state;
    for (const struct gt_warning_kind *row = gt_warning_kinds; row->kind != NULL; row++) {
        int order = row == gt_warning_kinds ? -1 : strcmp(row[-1].kind, row->kind);

        assert_true(order < 0 || (order == 0 && row->source != NULL));
        if (row->source != NULL)
            assert_non_null(gt_importer_find(row->source, "", &(struct gt_import_options){ .input = NULL }, NULL));
    }
}

static void a_remedy_is_that_of_the_profiler(void **state)
{
    struct gt_workload *workload = gt_workload_new();

    (void)state;
    workload->source = strdup("nsys");
    gt_import_warn(workload, "event-waits-unknown", 0);
    assert_int_equal(workload->warning_count, 0);
    gt_import_warn(workload, "event-waits-unknown", 2);
    gt_import_warn(workload, "event-waits-unknown", 1);
    gt_import_warn_text(workload, "cubins-unreadable", 1, "a.cubin: broken");
    assert_int_equal(workload->warning_count, 2);
    assert_int_equal(workload->warnings[0].count, 3);
    assert_non_null(strstr(workload->warnings[0].text, "not recorded; record with nsys profile --trace=cuda "));
    assert_int_equal(strncmp(workload->warnings[1].text, "a.cubin: broken; import the report", 34), 0);
    gt_workload_free(workload);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_manual_has_every_warning),
        cmocka_unit_test(the_manual_has_no_other_warning),
        cmocka_unit_test(the_table_is_sorted_and_its_sources_are_importers),
        cmocka_unit_test(a_remedy_is_that_of_the_profiler),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
