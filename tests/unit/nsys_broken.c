/* Nsight Systems exports that are broken, cut short or something else: errors that say what and where. */
#include "tests/unit/sqlite_database.h"
#include "traces/nsys/nsys.h"

/* The import fails, and the error names the file and says `part`. */
static void expect_error(const char *part)
{
    struct gt_workload *workload;

    error.text[0] = '\0';
    workload = gt_importer_nsys.read(path, NULL, &error);
    assert_null(workload);
    if (strncmp(error.text, path, strlen(path)) != 0 || strstr(error.text, part) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", error.text, part);
}

static void wrong_values_name_table_row_and_column(void **state)
{
    static const struct {
        const char *sql, *says;
    } cases[] = {
        { "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = 'soon' WHERE rowid = 2",
          "table CUPTI_ACTIVITY_KIND_KERNEL, row 2: column start contains text" },
        { "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = -1 WHERE rowid = 1", "row 1: column start is -1" },
        { "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = 3 WHERE rowid = 2", "row 2: it ends at 3, before its start" },
        { "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET gridX = 0", "column gridX is 0" },
        { "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET gridX = 4294967296", "column gridX is 4294967296" },
        { "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET blockY = x'00'", "column blockY contains bytes" },
        { "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET registersPerThread = 1.5",
          "registersPerThread contains a fraction" },
        { "UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET bytes = -4096", "CUPTI_ACTIVITY_KIND_MEMCPY, row 1: column bytes" },
        { "UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET deviceId = 9223372036854775807", "column deviceId" },
        { "UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET start = -9223372036854775808", "column start" },
        { "UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET start = 9223372036854775807, end = 9223372036854775807 "
          "WHERE rowid = 1",
          "days apart" },
        { "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL DROP COLUMN streamId", "has no column streamId" },
        { "UPDATE StringIds SET value = x'ff' WHERE id = 2", "table StringIds, id 2" },
        { "DROP TABLE CUPTI_ACTIVITY_KIND_RUNTIME; "
          "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, globalTid, nameId);"
          "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (NULL, 1, 1, 1)",
          "column start contains nothing" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        make("nsys-2.9", cases[i].sql);
        expect_error(cases[i].says);
    }
}

static void other_databases_are_refused(void **state)
{
    static const char *const tables[] = { "KERNEL", "MEMCPY", "RUNTIME" };
    char sql[256] = "";

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        strcat(sql, "DROP TABLE CUPTI_ACTIVITY_KIND_");
        strcat(sql, tables[i]);
        strcat(sql, ";");
    }
    make("nsys-2.9", sql);
    expect_error("no table of CUDA activity");
    /* Views are no tables: what they would run is a stranger's. */
    strcat(sql, "CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS SELECT 1");
    make("nsys-2.9", sql);
    expect_error("no table of CUDA activity");
}

/* Every length that is whole pages, and one byte around each. */
static void a_database_cut_short_is_an_error(void **state)
{
    struct stat stat_of;

    (void)state;
    make("nsys-3.24", NULL);
    assert_int_equal(stat(path, &stat_of), 0);
    for (off_t length = stat_of.st_size - 512; length >= 0; length -= 512) {
        for (off_t more = 1; more >= -1; more--) {
            if (length + more < 0)
                continue;
            assert_int_equal(truncate(path, length + more), 0);
            expect_error("");
        }
        make("nsys-3.24", NULL);
    }
}

/* A page of rubbish is never taken without a word: a workload that holds, or an error. */
static void rubbish_pages_do_no_harm(void **state)
{
    unsigned char rubbish[512];
    struct stat stat_of;
    unsigned refused = 0;

    (void)state;
    for (size_t i = 0; i < sizeof rubbish; i++)
        rubbish[i] = (unsigned char)(i * 151 + 7);
    make("nsys-3.24", NULL);
    assert_int_equal(stat(path, &stat_of), 0);
    for (off_t at = 0; at < stat_of.st_size; at += 512) {
        struct gt_workload *workload;
        FILE *file;

        make("nsys-3.24", NULL);
        file = fopen(path, "r+b");
        assert_int_equal(fseek(file, at, SEEK_SET), 0);
        assert_int_equal(fwrite(rubbish, 1, sizeof rubbish, file), sizeof rubbish);
        fclose(file);
        workload = gt_importer_nsys.read(path, NULL, &error);
        refused += workload == NULL;
        gt_workload_free(workload);
    }
    assert_true(refused > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_values_name_table_row_and_column),
        cmocka_unit_test(other_databases_are_refused),
        cmocka_unit_test(a_database_cut_short_is_an_error),
        cmocka_unit_test(rubbish_pages_do_no_harm),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
