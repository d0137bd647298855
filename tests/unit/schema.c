/* Operator schemas: what is written, what is new. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "traces/kineto/execution_trace.h"

static bool writes(const char *schema, uint32_t argument)
{
    return et_schema_writes(schema, strlen(schema), argument);
}

static bool makes(const char *schema, uint32_t result)
{
    return et_schema_makes(schema, strlen(schema), result);
}

static void what_is_marked_is_written(void **state)
{
    static const char add[] = "aten::add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)";
    static const char out[] = "aten::mm.out(Tensor self, Tensor mat2, *, Tensor(a!) out) -> Tensor(a!)";
    static const char lists[] =
        "aten::_foreach_add_.List(Tensor(a!)[] self, Tensor[] other, *, Scalar alpha=1) -> ()";
    static const char sizes[] = "aten::max_pool(Tensor self, int[2] kernel=[1, 1], int[2] stride=[2, 2], *, "
                                "Tensor(b!) out) -> (Tensor, Tensor(b!))";

    (void)state;
    assert_true(writes(add, 0) && !writes(add, 1) && !writes(add, 2) && !writes(add, 3));
    assert_true(!writes(out, 0) && !writes(out, 1) && writes(out, 2)); /* the star is no argument */
    assert_true(writes(lists, 0) && !writes(lists, 1));
    assert_true(!writes(sizes, 1) && !writes(sizes, 2) && writes(sizes, 3));
    assert_false(writes("aten::t(Tensor(a) self) -> Tensor(a)", 0));
}

static void results_that_are_no_views_are_new(void **state)
{
    static const char norm[] = "aten::native_layer_norm(Tensor input, float eps) -> (Tensor, Tensor, Tensor)";

    (void)state;
    assert_true(makes("aten::mm(Tensor self, Tensor mat2) -> Tensor", 0));
    assert_false(makes("aten::mm(Tensor self, Tensor mat2) -> Tensor", 1));
    assert_false(makes("aten::t(Tensor(a) self) -> Tensor(a)", 0));
    assert_false(makes("aten::add_(Tensor(a!) self) -> Tensor(a!)", 0));
    assert_true(makes(norm, 0) && makes(norm, 2) && !makes(norm, 3));
    assert_true(makes("aten::topk(Tensor self, int k) -> (Tensor values, Tensor indices)", 1));
    assert_true(makes("aten::split(Tensor self) -> Tensor[]", 0));
    assert_false(makes("aten::_foreach_mul_(Tensor(a!)[] self) -> ()", 0));
}

static void texts_that_are_no_schemas_say_nothing(void **state)
{
    static const char *const texts[] = { "",    "(",      ")",  "a(",   "a(((",       "a(b,,",
                                         "a()", "a() ->", "->", "a(*)", "a(x)) -> (", "]]]" };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        for (uint32_t place = 0; place < 4; place++) {
            assert_false(writes(texts[i], place));
            makes(texts[i], place);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_marked_is_written),
        cmocka_unit_test(results_that_are_no_views_are_new),
        cmocka_unit_test(texts_that_are_no_schemas_say_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
