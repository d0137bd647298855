/* Tables: RFC 4180 quoting, valid JSON, nothing where there is nothing. */
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/cmd/print/table_parts.h"
#include "sim/cmd/print/terminal.h"

static const struct gt_column columns[] = {
    { "name", GT_COLUMN_WIDE },
    { "busy_us", GT_COLUMN_NUMBER },
    { "count", GT_COLUMN_NUMBER },
};

static struct gt_table *make_table(void)
{
    struct gt_table *table = gt_table_new("streams", columns, 3);

    gt_table_text(table, "a \"b\", c\nd \xff");
    gt_table_real(table, 1234.56789012, 2);
    gt_table_integer(table, INT64_MIN);
    gt_table_text(table, NULL);
    gt_table_real(table, NAN, 2);
    gt_table_integer(table, 7);
    return table;
}

static char *print(enum gt_format format, struct gt_table **tables, size_t count)
{
    char *text;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    gt_tables_print(out, format, tables, count);
    fclose(out);
    return text;
}

static void prints(enum gt_format format, struct gt_table **tables, size_t count, const char *expected)
{
    char *text = print(format, tables, count);

    assert_string_equal(text, expected);
    free(text);
}

static void csv_is_rfc_4180(void **state)
{
    struct gt_table *table = make_table();

    (void)state;
    prints(GT_FORMAT_CSV, &table, 1,
           "name,busy_us,count\r\n"
           "\"a \"\"b\"\", c\nd \xff\",1234.56789,-9223372036854775808\r\n,,7\r\n");
    gt_table_free(table);
}

static void several_csv_tables_say_their_names(void **state)
{
    struct gt_table *tables[] = { gt_table_new("one", columns, 3), make_table() };
    char *text = print(GT_FORMAT_CSV, tables, 2);

    (void)state;
    assert_non_null(strstr(text, "table,name,busy_us,count\r\n\r\ntable,name"));
    assert_non_null(strstr(text, "streams,,,7\r\n"));
    free(text);
    gt_table_free(tables[0]);
    gt_table_free(tables[1]);
}

static void json_has_numbers_and_nulls(void **state)
{
    struct gt_table *table = make_table();

    (void)state;
    prints(GT_FORMAT_JSON, &table, 1,
           "{\n  \"streams\": [\n    {\n      \"name\": \"a \\\"b\\\", c\\nd \xef\xbf\xbd\",\n"
           "      \"busy_us\": 1234.56789,\n      \"count\": -9223372036854775808\n    },\n"
           "    {\n      \"name\": null,\n      \"busy_us\": null,\n      \"count\": 7\n    }\n  ]\n}\n");
    gt_table_free(table);
}

static void a_single_row_is_an_object(void **state)
{
    struct gt_table *table = gt_table_new("run", columns, 3);

    (void)state;
    gt_table_single(table);
    gt_table_text(table, "x");
    gt_table_real(table, 2, 3);
    gt_table_integer(table, 3);
    prints(GT_FORMAT_JSON, &table, 1,
           "{\n  \"run\": {\n    \"name\": \"x\",\n    \"busy_us\": 2,\n    \"count\": 3\n  }\n}\n");
    prints(GT_FORMAT_TABLE, &table, 1, "name    x\nbusy_us 2.000\ncount   3\n");
    gt_table_free(table);
}

static void people_get_columns(void **state)
{
    struct gt_table *table = gt_table_new("streams", columns, 3), *empty = gt_table_new("none", columns, 3);

    (void)state;
    gt_table_text(table, "long name");
    gt_table_real(table, 2.345, 1);
    gt_table_integer(table, 30);
    prints(GT_FORMAT_TABLE, &table, 1, "name      busy_us count\nlong name     2.3    30\n");
    prints(GT_FORMAT_TABLE, &empty, 1, "(none)\n");
    gt_table_free(table);
    gt_table_free(empty);
}

#define MANGLED                                                                                       \
    "_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIfNS0_14func_wrapper_tIfZNS0_11sum_functorI" \
    "fffEclERNS_14TensorIteratorEEUlffE_EEjfLi4ELi4EEEEEvT1_"
#define SHORT "reduce_kernel<512, 1, at::native::Red…ed int, float, 4, 4> >"

/* No terminal: no name is cut, and it stands last. */
static void names_are_readable_for_people_and_as_traced_for_programs(void **state)
{
    static const struct gt_column named[] = {
        { "kernel", GT_COLUMN_NAME },
        { "a_heading_of_thirty_characters", GT_COLUMN_NUMBER },
    };
    struct gt_table *table = gt_table_new("kernels", named, 2);
    char *people;

    (void)state;
    gt_table_text(table, MANGLED);
    gt_table_integer(table, 1);
    gt_table_text(table, NULL);
    gt_table_integer(table, 2);
    people = print(GT_FORMAT_TABLE, &table, 1);
    assert_non_null(strstr(people, "a_heading_of_thirty_characters kernel\n"));
    assert_non_null(
        strstr(people, " 1 reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::func_wrapper_t<"));
    assert_non_null(strstr(people, "#1}>, unsigned int, float, 4, 4> >\n"));
    assert_null(strstr(people, "…"));
    free(people);
    prints(GT_FORMAT_CSV, &table, 1,
           "kernel,short_name,a_heading_of_thirty_characters\r\n" MANGLED ",\"" SHORT "\",1\r\n,,2\r\n");
    prints(GT_FORMAT_JSON, &table, 1,
           "{\n  \"kernels\": [\n    {\n      \"kernel\": \"" MANGLED "\",\n"
           "      \"short_name\": \"" SHORT "\",\n      \"a_heading_of_thirty_characters\": 1\n    },\n"
           "    {\n      \"kernel\": null,\n      \"short_name\": null,\n"
           "      \"a_heading_of_thirty_characters\": 2\n    }\n  ]\n}\n");
    gt_table_free(table);
}

static void short_names_that_would_be_alike_differ(void **state)
{
    static const struct gt_column named[] = { { "kernel", GT_COLUMN_NAME }, { "n", GT_COLUMN_NUMBER } };
    struct gt_table *table = gt_table_new("kernels", named, 2);

    (void)state;
    gt_table_text(table, "f<aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, one, bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb>");
    gt_table_integer(table, 1);
    gt_table_text(table, "f<aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, two, bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb>");
    gt_table_integer(table, 1);
    prints(GT_FORMAT_CSV, &table, 1,
           "kernel,short_name,n\r\n"
           "\"f<aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, one, bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb>\","
           "\"f<aaaaaaaaaaaaaaaaaaa…one, bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb>\",1\r\n"
           "\"f<aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, two, bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb>\","
           "\"f<aaaaaaaaaaaaaaaaaaa…two, bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb>\",1\r\n");
    gt_table_free(table);
}

static void prints_within(struct gt_table *table, size_t width, const char *expected)
{
    char *text;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    gt_table_print_people(out, table, false, width);
    fclose(out);
    assert_string_equal(text, expected);
    free(text);
}

/* Too narrow by little: headings are folded; by more: names go above their rows; then texts are folded too. */
static void what_is_too_wide_is_laid_out_anew(void **state)
{
    static const struct gt_column named[] = {
        { "kernel", GT_COLUMN_NAME },
        { "mean_wait_us", GT_COLUMN_NUMBER },
        { "note", GT_COLUMN_WIDE },
    };
    struct gt_table *table = gt_table_new("kernels", named, 3);

    (void)state;
    gt_table_text(table, "a_kernel");
    gt_table_real(table, 12.5, 1);
    gt_table_text(table, "waits for the copy");
    prints_within(table, 40,
                  "mean_wait_us note               kernel\n"
                  "        12.5 waits for the copy a_kernel\n");
    prints_within(table, 39,
                  "mean_ note               kernel\n"
                  "wait_\n"
                  "   us\n"
                  " 12.5 waits for the copy a_kernel\n");
    prints_within(table, 32,
                  "kernel\n"
                  "  mean_ note\n"
                  "  wait_\n"
                  "     us\n"
                  "a_kernel\n"
                  "   12.5 waits for the copy\n");
    prints_within(table, 24,
                  "kernel\n"
                  "  mean_ note\n"
                  "  wait_\n"
                  "     us\n"
                  "a_kernel\n"
                  "   12.5 waits for the\n"
                  "        copy\n");
    gt_table_free(table);
}

static void folds(const char *text, size_t width, const char *expected)
{
    char *folded = gt_fold(text, width, " /");

    assert_string_equal(folded, expected);
    free(folded);
}

static void texts_are_folded_and_lose_nothing(void **state)
{
    (void)state;
    folds("one two", 7, "one two");
    folds("one two", 6, "one\ntwo");
    folds("one two three", 7, "one two\nthree");
    folds("a/long/path", 7, "a/long/\npath");
    folds("unbreakable", 4, "unbr\neaka\nble");
    folds("", 4, "");
    folds("ein Größtes", 7, "ein\nGrößtes");
}

static void one_table_can_be_chosen(void **state)
{
    static const struct gt_column own[] = { { "n", GT_COLUMN_NUMBER } };
    struct gt_table *tables[2] = { gt_table_new("first", own, 1), gt_table_new("second", own, 1) };
    char *missing;

    (void)state;
    gt_table_integer(tables[1], 7);
    gt_tables_declare("first, second, third");
    assert_string_equal(gt_tables_choose("secon"), "first, second, third");
    assert_string_equal(gt_tables_choose(""), "first, second, third");
    assert_false(gt_tables_chosen());
    assert_null(gt_tables_choose("second"));
    prints(GT_FORMAT_CSV, tables, 2, "n\r\n7\r\n");
    prints(GT_FORMAT_TABLE, tables, 2, "n\n7\n");
    assert_null(gt_tables_missing());
    assert_null(gt_tables_choose("third"));
    assert_null(gt_tables_missing()); /* no table so far */
    prints(GT_FORMAT_JSON, tables, 2, "");
    missing = gt_tables_missing();
    assert_string_equal(missing, "there is no table 'third' here; there are first, second");
    free(missing);
    gt_tables_choose(NULL);
    gt_tables_declare(NULL);
    assert_false(gt_tables_chosen());
    for (int i = 0; i < 2; i++)
        gt_table_free(tables[i]);
}

static void formats_have_names(void **state)
{
    enum gt_format format;

    (void)state;
    assert_int_equal(gt_format_parse("json", &format), 0);
    assert_int_equal(format, GT_FORMAT_JSON);
    assert_int_equal(gt_format_parse("JSON", &format), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(csv_is_rfc_4180),
        cmocka_unit_test(several_csv_tables_say_their_names),
        cmocka_unit_test(json_has_numbers_and_nulls),
        cmocka_unit_test(a_single_row_is_an_object),
        cmocka_unit_test(people_get_columns),
        cmocka_unit_test(names_are_readable_for_people_and_as_traced_for_programs),
        cmocka_unit_test(short_names_that_would_be_alike_differ),
        cmocka_unit_test(what_is_too_wide_is_laid_out_anew),
        cmocka_unit_test(texts_are_folded_and_lose_nothing),
        cmocka_unit_test(one_table_can_be_chosen),
        cmocka_unit_test(formats_have_names),
    };

    setlocale(LC_CTYPE, "C.UTF-8");
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
