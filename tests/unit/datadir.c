/* Data files: an override first, then the source tree for a program that was only built. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "traces/io/data_path.h"

static void finds_the_source_tree(void **state)
{
    char *path;

    (void)state;
    unsetenv("GRIDTIDE_DATA");
    path = gt_data_path("devices", NULL);
    assert_non_null(path);
    assert_non_null(strstr(path, "/sim/devices"));
    free(path);
}

static void an_override_comes_first(void **state)
{
    char folder[] = "/tmp/gridtide-data-XXXXXX", devices[64], file[128];
    char *path;

    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(devices, sizeof devices, "%s/devices", folder);
    snprintf(file, sizeof file, "%s/mine.ini", devices);
    assert_int_equal(mkdir(devices, 0700), 0);
    fclose(fopen(file, "w"));
    setenv("GRIDTIDE_DATA", folder, 1);
    path = gt_data_path("devices", "mine.ini");
    assert_non_null(path);
    assert_string_equal(path, file);
    free(path);
    unlink(file);
    rmdir(devices);
    rmdir(folder);
    unsetenv("GRIDTIDE_DATA");
}

static void what_is_nowhere_is_null(void **state)
{
    (void)state;
    assert_null(gt_data_path("devices", "no-such-device.ini"));
    assert_null(gt_data_path("no-such-folder", NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_source_tree),
        cmocka_unit_test(an_override_comes_first),
        cmocka_unit_test(what_is_nowhere_is_null),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
