/* Arrays that grow, ranks of sorted values, and whether an error names its file. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "sim/base/array.h"
#include "sim/base/error.h"
#include "sim/base/sort.h"

static void arrays_grow_and_keep_what_they_hold(void **state)
{
    uint32_t *numbers = NULL, count = 0, room = 0, moves = 0;

    (void)state;
    while (count < 100000) {
        uint32_t before = room;

        gt_array_grow(numbers, count, room);
        moves += room != before;
        numbers[count] = count;
        count++;
    }
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(numbers[i], i);
    assert_true(moves < 30);
    free(numbers);
}

/* The greatest 32-bit number means "none" among indexes: it never becomes one. */
static void room_ends_below_none(void **state)
{
    uint64_t room = 0, last = 0;

    (void)state;
    while (room < UINT32_MAX - 1) {
        last = room;
        room = gt_array_next_room(room, UINT32_MAX);
        assert_true(room > last);
    }
    assert_int_equal(room, UINT32_MAX - 1);
}

/* An error that ends the program with status 1, not a bug that aborts. */
static void too_many_is_an_error(void **state)
{
    pid_t child;
    int status;

    (void)state;
    child = fork();
    if (child == 0) {
        close(STDERR_FILENO);
        gt_array_next_room(UINT32_MAX - 1, UINT32_MAX);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 1);
}

static void ranks_are_the_nearest(void **state)
{
    double values[] = { 5, 1, 4, 2, 3, 6 };

    (void)state;
    assert_true(isnan(gt_median(values, 0)));
    assert_true(gt_median(values, 1) == 5);
    assert_true(gt_median(values, 6) == 3); /* the lower of the two in the middle */
    assert_true(gt_percentile(values, 6, 0) == 1);
    assert_true(gt_percentile(values, 6, 50) == 3);
    assert_true(gt_percentile(values, 6, 51) == 4);
    assert_true(gt_percentile(values, 6, 95) == 6);
    assert_true(gt_percentile(values, 6, 100) == 6);
}

static void an_error_names_a_file_before_a_colon(void **state)
{
    struct gt_error error = { "a copy: without bytes" };

    (void)state;
    assert_false(gt_error_names(&error, "a"));
    assert_false(gt_error_names(&error, "b"));
    assert_true(gt_error_names(&error, "a copy"));
    gt_error_prefix(&error, "%s:%d: ", "a", 3);
    assert_true(gt_error_names(&error, "a"));
    assert_false(gt_error_names(&error, error.text));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_grow_and_keep_what_they_hold),
        cmocka_unit_test(room_ends_below_none),
        cmocka_unit_test(too_many_is_an_error),
        cmocka_unit_test(ranks_are_the_nearest),
        cmocka_unit_test(an_error_names_a_file_before_a_colon),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
