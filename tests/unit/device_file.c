/* Device files: strict reading with FILE:LINE, sources, and the files that come with Gridtide. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "traces/io/device_file.h"

static char folder[64], path[96];
static struct gt_error error;
static struct gt_device device;

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/gridtide-device-XXXXXX");
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(path, sizeof path, "%s/mine.ini", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

static int load(const char *text, size_t bytes)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, bytes, file), bytes);
    fclose(file);
    error.text[0] = '\0';
    return gt_device_load(path, &device, &error);
}

static void refuses(const char *text, const char *reason)
{
    char expected[256];

    snprintf(expected, sizeof expected, "%s%s", path, reason);
    assert_int_equal(load(text, strlen(text)), -1);
    if (strncmp(error.text, expected, strlen(expected)) != 0)
        fail_msg("'%s' instead of '%s'", error.text, expected);
}

static void errors_name_file_and_line(void **state)
{
    char text[512];

    (void)state;
    refuses("[chip]\nsmz = 4\n", ":2: there is no device key 'chip.smz'; did you mean chip.sms");
    refuses("; a\n[chop]\nsms = 4\n", ":3: there is no section [chop]; sections are chip, sm, ");
    refuses("sms = 4\n", ":1: a key before the first [section]");
    refuses("[chip]\nsms = 4\n[sm]\nwarps = 64\n[chip]\nsms = 5\n", ":6: this key was set before, in line 2");
    refuses("[chip]\n\nsms = many\n", ":3: chip.sms: 'many' is not a whole number");
    refuses("[chip]\nsms\n", ":2: neither a [section] nor");
    refuses("[chip\nsms = 4\n", ":1: neither a [section] nor");
    refuses("[chip]\nsms = 4\n  sm = 5\n", ":3: a line that begins with a space");
    refuses("[block]\nthreads = 2049\n", ": block.threads 2049 is above");
    refuses("", ": sets no key");
    snprintf(text, sizeof text, "[chip]\nname = %0300d\n", 7);
    refuses(text, ":2: a line of more than ");
    assert_int_equal(load("[chip]\nsms\0 = 4\n", 16), -1);
    assert_non_null(strstr(error.text, ":2: a zero byte"));
}

static void lists_go_on_over_lines(void **state)
{
    static const char text[] = "[chip]\nsm_order = 3,\n    2,\n ; not a number\n\t1,0\nsms = 4\n";

    (void)state;
    assert_int_equal(load(text, strlen(text)), 0);
    assert_int_equal(device.sm_order_length, 4);
    assert_int_equal(device.sm_order[3], 0);
}

static void sources_hold_for_what_is_below(void **state)
{
    static const char text[] = "; source: one\n[chip]\nsms = 4\n# source: two\r\nclock_mhz = 5\n"
                               "[sm]\nwarps = 64\n";
    struct gt_key_notes notes;

    (void)state;
    assert_int_equal(load(text, strlen(text)), 0);
    assert_int_equal(gt_device_load_notes(path, &device, &notes, &error), 0);
    assert_string_equal(notes.file, "one");
    for (size_t i = 0; i < gt_device_key_count; i++) {
        const char *key = gt_device_keys[i].key;

        if (strcmp(key, "chip.sms") == 0)
            assert_string_equal(notes.keys[i], "one");
        else if (strcmp(key, "chip.clock_mhz") == 0 || strcmp(key, "sm.warps") == 0)
            assert_string_equal(notes.keys[i], "two");
        else
            assert_null(notes.keys[i]);
    }
    gt_key_notes_free(&notes);
}

/* Each value of a shipped file says where it comes from; only what nobody knows is left out. */
static void shipped_files_are_whole(void **state)
{
    char **names = gt_device_names(&error);
    size_t count = 0;

    (void)state;
    assert_non_null(names);
    for (; names[count] != NULL; count++) {
        struct gt_key_notes notes;

        if (gt_device_load_notes(names[count], &device, &notes, &error) != 0)
            fail_msg("%s", error.text);
        assert_true(strlen(notes.file) > 0);
        for (size_t i = 0; i < gt_device_key_count; i++) {
            const char *key = gt_device_keys[i].key;

            if (notes.keys[i] == NULL && strcmp(key, "chip.gpc_sms") != 0 && strcmp(key, "chip.sm_order") != 0 &&
                strcmp(key, "chip.small_cpc_sms") != 0 && strcmp(key, "sm.shared_carveouts_kib") != 0)
                fail_msg("%s.ini leaves out %s", names[count], key);
            assert_true(notes.keys[i] == NULL || notes.keys[i][0] != '\0');
        }
        gt_key_notes_free(&notes);
    }
    assert_true(count >= 5);
    gt_device_names_free(names);
    assert_int_equal(gt_device_load("h200", &device, &error), 0);
    assert_int_equal(device.sm_order_length, 132);
}

static void an_unknown_name_lists_the_known(void **state)
{
    static const char *const wrong[] = { "h2000", "", ".", "..", "h200.in" };

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(gt_device_load(wrong[i], &device, &error), -1);
        assert_non_null(strstr(error.text, "h100, h200"));
    }
    assert_int_equal(gt_device_load("./none.ini", &device, &error), -1);
    assert_int_equal(gt_device_load("/tmp/", &device, &error), -1);
}

static void a_capability_names_the_first_device_that_has_it(void **state)
{
    char *name = gt_device_name_of_capability(80);

    (void)state;
    assert_string_equal(name, "a100");
    free(name);
    name = gt_device_name_of_capability(90); /* h100, h200 and toy */
    assert_string_equal(name, "h100");
    free(name);
    assert_null(gt_device_name_of_capability(0));
    assert_null(gt_device_name_of_capability(89));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(errors_name_file_and_line, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(lists_go_on_over_lines, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(sources_hold_for_what_is_below, make_folder, remove_folder),
        cmocka_unit_test(shipped_files_are_whole),
        cmocka_unit_test(an_unknown_name_lists_the_known),
        cmocka_unit_test(a_capability_names_the_first_device_that_has_it),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
