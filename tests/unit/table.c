/* Tables: RFC 4180 quoting, valid JSON, nothing where there is nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/cmd/table.h"

static const struct gt_column columns[] = {
    { "name", GT_COLUMN_WIDE }, { "busy_us", GT_COLUMN_NUMBER }, { "count", GT_COLUMN_NUMBER },
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
    prints(GT_FORMAT_CSV, &table, 1, "name,busy_us,count\r\n"
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

#define MANGLED \
    "_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIfNS0_14func_wrapper_tIfZNS0_11sum_functorI" \
    "fffEclERNS_14TensorIteratorEEUlffE_EEjfLi4ELi4EEEEEvT1_"
#define SHORT "reduce_kernel<512, 1, at::native::Red…ed int, float, 4, 4> >"

/* 120 columns, 31 of them taken by numbers and blanks. */
static void names_are_short_for_people_and_whole_for_programs(void **state)
{
    static const struct gt_column named[] = {
        { "kernel", GT_COLUMN_NAME }, { "a_heading_of_thirty_characters", GT_COLUMN_NUMBER },
    };
    struct gt_table *table = gt_table_new("kernels", named, 2);
    char *people;

    (void)state;
    gt_table_text(table, MANGLED);
    gt_table_integer(table, 1);
    gt_table_text(table, NULL);
    gt_table_integer(table, 2);
    people = print(GT_FORMAT_TABLE, &table, 1);
    assert_non_null(strstr(people, "\nreduce_kernel<512, 1, at::native::ReduceOp<float, ..."));
    assert_non_null(strstr(people, "#1}>, unsigned int, float, 4, 4> >     "));
    assert_int_equal(strcspn(people, "\n"), 120);
    free(people);
    prints(GT_FORMAT_CSV, &table, 1, "kernel,short_name,a_heading_of_thirty_characters\r\n"
           MANGLED ",\"" SHORT "\",1\r\n,,2\r\n");
    prints(GT_FORMAT_JSON, &table, 1, "{\n  \"kernels\": [\n    {\n      \"kernel\": \"" MANGLED "\",\n"
           "      \"short_name\": \"" SHORT "\",\n      \"a_heading_of_thirty_characters\": 1\n    },\n"
           "    {\n      \"kernel\": null,\n      \"short_name\": null,\n"
           "      \"a_heading_of_thirty_characters\": 2\n    }\n  ]\n}\n");
    gt_table_free(table);
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
        cmocka_unit_test(names_are_short_for_people_and_whole_for_programs),
        cmocka_unit_test(formats_have_names),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
