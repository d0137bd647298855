/* Indexes by a file's numbers: each key has its own, which stays where it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "sim/workload/workload.h"
#include "traces/import/index_map.h"

static void keys_differ_in_each_number(void **state)
{
    struct gt_index_map *map = NULL;

    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        struct gt_index_key key = { { 0 } };

        key.numbers[i] = UINT64_MAX;
        assert_null(gt_index_map_find(map, key));
        assert_int_equal(*gt_index_map_at(&map, key), GT_NONE);
        *gt_index_map_at(&map, key) = i;
    }
    for (uint32_t i = 0; i < 4; i++) {
        struct gt_index_key key = { { 0 } };

        key.numbers[i] = UINT64_MAX;
        assert_int_equal(*gt_index_map_find(map, key), i);
    }
    assert_null(gt_index_map_find(map, (struct gt_index_key){ { 0 } }));
    gt_index_map_free(map);
}

static void an_index_stays_where_it_is(void **state)
{
    enum { COUNT = 10000 };
    struct gt_index_map *map = NULL;
    uint32_t *first = gt_index_map_at(&map, (struct gt_index_key){ { 7 } });

    (void)state;
    for (uint64_t i = 0; i < COUNT; i++)
        *gt_index_map_at(&map, (struct gt_index_key){ { 8, i } }) = (uint32_t)i;
    *first = 42;
    assert_ptr_equal(gt_index_map_find(map, (struct gt_index_key){ { 7 } }), first);
    assert_int_equal(*gt_index_map_at(&map, (struct gt_index_key){ { 7 } }), 42);
    assert_int_equal(*gt_index_map_find(map, (struct gt_index_key){ { 8, COUNT - 1 } }), COUNT - 1);
    gt_index_map_free(map);
    gt_index_map_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_differ_in_each_number),
        cmocka_unit_test(an_index_stays_where_it_is),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
