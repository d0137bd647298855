/* Frameworks' files: the one that comes with Gridtide, and what is said of a wrong one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "traces/io/framework_file.h"

static char path[64];
static struct gt_error error;
static struct gt_framework framework;

static int make_file(void **state)
{
    int file;

    (void)state;
    snprintf(path, sizeof path, "/tmp/gridtide-framework-XXXXXX");
    file = mkstemp(path);
    return file < 0 ? -1 : close(file);
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

/* The shipped values as a file, but that of one key, and none of another (-1: no such key). */
static void write_values(int other, const char *value, int left_out)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_int_equal(gt_framework_load(NULL, &framework, &error), 0);
    for (int i = 0; i < (int)gt_framework_table.count; i++) {
        const struct gt_key *key = &gt_framework_table.rows[i];
        int section = (int)strcspn(key->key, ".");
        char text[128];

        gt_key_format(&framework, key, text, sizeof text);
        if (i != left_out)
            fprintf(file, "[%.*s]\n%s = %s\n", section, key->key, key->key + section + 1, i == other ? value : text);
    }
    fclose(file);
}

/* Every value says where it comes from. */
static void the_shipped_file_is_whole(void **state)
{
    struct gt_key_notes notes;

    (void)state;
    if (gt_framework_load_notes(NULL, &framework, &notes, &error) != 0)
        fail_msg("%s", error.text);
    assert_string_equal(framework.name, "PyTorch 2.11");
    for (size_t i = 0; i < gt_framework_table.count; i++)
        if (strlen(notes.keys[i]) < 10)
            fail_msg("%s has no source", gt_framework_table.rows[i].key);
    gt_key_notes_free(&notes);
}

/* Each key reads what it wrote into its own field alone. */
static void keys_have_fields_of_their_own(void **state)
{
    (void)state;
    for (int i = 0; i < (int)gt_framework_table.count; i++) {
        const struct gt_key *key = &gt_framework_table.rows[i];
        struct gt_framework read;
        char text[128];

        assert_ptr_equal(gt_key_find(&gt_framework_table, key->key), key);
        assert_true(strlen(key->help) > 10);
        write_values(i, key->low < 1 && key->high == 1 ? "0.75" : "7", -1);
        if (gt_framework_load(path, &read, &error) != 0)
            fail_msg("%s", error.text);
        for (int j = 0; j < (int)gt_framework_table.count; j++) {
            char own[128];

            gt_key_format(&framework, &gt_framework_table.rows[j], text, sizeof text);
            gt_key_format(&read, &gt_framework_table.rows[j], own, sizeof own);
            assert_int_equal(strcmp(text, own) == 0, i != j);
        }
    }
}

static void refuses(const char *text, const char *reason)
{
    FILE *file = fopen(path, "w");
    char expected[256];

    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    snprintf(expected, sizeof expected, "%s%s", path, reason);
    assert_int_equal(gt_framework_load(path, &framework, &error), -1);
    if (strncmp(error.text, expected, strlen(expected)) != 0)
        fail_msg("'%s' instead of '%s'", error.text, expected);
}

static void errors_name_file_and_line_and_what_to_do(void **state)
{
    (void)state;
    refuses("[ddp]\nbuckets_us = 4\n", ":2: there is no framework key 'ddp.buckets_us'; did you mean ddp.bucket_us");
    refuses("[dpp]\nbucket_us = 4\n",
            ":2: there is no section [dpp]; sections are framework, elementwise, ddp, normalisation, accumulate, ");
    refuses("[ddp]\n\nbucket_us = long\n", ":3: ddp.bucket_us: 'long' is not a decimal number");
    refuses("[pinned]\nwarm_part = 1.5\n", ":2: pinned.warm_part: '1.5' is outside 0.01 to 1 part");
    refuses("[framework]\nname = mine\n",
            ": there is no elementwise.threads, which has no default; set it (threads: ");
    refuses("", ": sets no key: not a valid framework file");
}

/* None is left out in silence. */
static void a_missing_key_is_named(void **state)
{
    (void)state;
    for (int i = 0; i < (int)gt_framework_table.count; i++) {
        write_values(-1, NULL, i);
        assert_int_equal(gt_framework_load(path, &framework, &error), -1);
        assert_non_null(strstr(error.text, gt_framework_table.rows[i].key));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_shipped_file_is_whole),
        cmocka_unit_test_setup_teardown(keys_have_fields_of_their_own, make_file, remove_file),
        cmocka_unit_test_setup_teardown(errors_name_file_and_line_and_what_to_do, make_file, remove_file),
        cmocka_unit_test_setup_teardown(a_missing_key_is_named, make_file, remove_file),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
