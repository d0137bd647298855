/* Inputs of operators as text: read, written again, refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/workload/tensor.h"

static void reads_and_writes(void **state)
{
    static const char text[] = "bfloat16[8,128,768] float32[] - ?[64,3,7,7]+ bool[5] float8e4m3[16]";
    struct gt_tensor tensors[GT_MOST_INPUTS];
    char *again;

    (void)state;
    assert_int_equal(gt_tensors_read(text, tensors), 6);
    assert_int_equal(tensors[0].sides, 3);
    assert_int_equal(tensors[0].size[2], 768);
    assert_int_equal(tensors[0].element_bytes, 2);
    assert_true(gt_tensor_elements(&tensors[1]) == 1 && tensors[1].sides == 0);
    assert_false(tensors[2].is_tensor);
    assert_true(gt_tensor_elements(&tensors[2]) == 0);
    assert_true(tensors[3].is_list && tensors[3].element_bytes == 0);
    assert_true(gt_tensor_bytes(&tensors[3]) == 64 * 3 * 7 * 7 * 4); /* of unknown type: 4 each */
    assert_int_equal(tensors[4].element_bytes, 1);
    assert_int_equal(tensors[5].element_bytes, 1);
    again = gt_tensors_text(tensors, 6);
    assert_string_equal(again, text);
    free(again);
}

static void reads_numbers(void **state)
{
    static const char text[] = "float32[1,3,8,8] - (2,1) -1 () 0 (2147483647,-2147483647) (1,2,3,4,5,6,7,8)";
    struct gt_tensor tensors[GT_MOST_INPUTS];
    char *again;

    (void)state;
    assert_int_equal(gt_tensors_read(text, tensors), 8);
    assert_int_equal(tensors[0].numbers, 0);
    assert_true(tensors[1].numbers == 0 && !tensors[1].is_list);
    assert_true(tensors[2].numbers == 2 && tensors[2].is_list && !tensors[2].is_tensor && tensors[2].sides == 0);
    assert_true(tensors[2].number[0] == 2 && tensors[2].number[1] == 1);
    assert_true(tensors[3].numbers == 1 && !tensors[3].is_list && tensors[3].number[0] == -1);
    assert_true(tensors[4].numbers == 0 && tensors[4].is_list);
    assert_true(tensors[5].numbers == 1 && tensors[5].number[0] == 0);
    assert_true(gt_tensor_elements(&tensors[2]) == 0 && gt_tensor_bytes(&tensors[3]) == 0);
    again = gt_tensors_text(tensors, 8);
    assert_string_equal(again, text);
    free(again);
}

static void those_behind_the_last_are_checked_alone(void **state)
{
    struct gt_tensor tensors[GT_MOST_INPUTS];

    (void)state;
    assert_int_equal(gt_tensors_read("- - - - - - - - - - - - float32[1] int64[2]", tensors), GT_MOST_INPUTS);
    assert_int_equal(gt_tensors_read("- - - - - - - - - - - - float32[1", tensors), -1);
}

static void compares_sides(void **state)
{
    struct gt_tensor t[GT_MOST_INPUTS];

    (void)state;
    assert_int_equal(gt_tensors_read("float32[2,3] float16[2,3] float32[3,2] int64[2] uint8[2]", t), 5);
    assert_true(gt_tensors_alike(&t[0], &t[1]));
    assert_false(gt_tensors_alike(&t[0], &t[2]));
    assert_true(gt_tensor_is_whole(&t[3]) && gt_tensor_is_whole(&t[4]) && !gt_tensor_is_whole(&t[1]));
}

static void refuses_others(void **state)
{
    static const char *const wrong[] = { "",
                                         " ",
                                         "float32",
                                         "float32[",
                                         "float32[1",
                                         "float32[1,]",
                                         "[1]",
                                         "float32[-1]",
                                         "float32[a]",
                                         "float32[1]x",
                                         "-- ",
                                         "- ",
                                         "f32[1]  -",
                                         "float32[99999999999999999999]",
                                         "averyverylongtypename[1]",
                                         "float32[1,1,1,1,1,1,1,1,1]",
                                         "(",
                                         "(1",
                                         "(1,",
                                         "(1,)",
                                         "(,1)",
                                         "(1))",
                                         "((1))",
                                         "(1 ,2)",
                                         "(1.5)",
                                         "(+1)",
                                         "(-)",
                                         "1.5",
                                         "1e3",
                                         "--1",
                                         "1,2",
                                         "(1)+",
                                         "2147483648",
                                         "-2147483648",
                                         "99999999999999999999",
                                         "(1,2,3,4,5,6,7,8,9)" };
    struct gt_tensor tensors[GT_MOST_INPUTS];

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        if (gt_tensors_read(wrong[i], tensors) >= 0)
            fail_msg("'%s' was read", wrong[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_and_writes),
        cmocka_unit_test(reads_numbers),
        cmocka_unit_test(those_behind_the_last_are_checked_alone),
        cmocka_unit_test(compares_sides),
        cmocka_unit_test(refuses_others),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
