/* Names of kernels for people: demangled, and cut down to the function's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "traces/names/demangle.h"

struct names {
    const char *name, *demangled, *function, *base;
};

static const struct names cases[] = {
    { "_Z17gemv2T_kernel_valIiLi128ELb0EEvT_", "void gemv2T_kernel_val<int, 128, false>(int)",
      "gemv2T_kernel_val<int, 128, false>", "gemv2T_kernel_val" },
    { "_ZN12_GLOBAL__N_16streamILNS_9operationE0EEEvNS_16stream_argumentsEP12gt_block_log",
      "void (anonymous namespace)::stream<((anonymous namespace)::operation)0>((anonymous namespace)::"
      "stream_arguments, gt_block_log*)",
      "stream<((anonymous namespace)::operation)0>", "stream" },
    { "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::func_wrapper_t<float, "
      "at::native::sum_functor<float>::operator()(at::TensorIterator&)::{lambda(float, float)#1}> > >(int)",
      NULL, NULL, "reduce_kernel" },
    { "void f<&A::operator< >(int)", NULL, "f<&A::operator< >", "f" },
    { "void <unnamed>::elementwise_kernel<(int)128, (int)4>(int, T2)", NULL, "elementwise_kernel<(int)128, (int)4>",
      "elementwise_kernel" },
    { "unsigned int a::hash(unsigned char const*) [clone .x]", NULL, "hash", "hash" },
    { "void a::f<int>", NULL, "f<int>", "f" },
    { "cutlass::gemm", NULL, "gemm", "gemm" },
    { "triton_poi_fused_add_0", NULL, "triton_poi_fused_add_0", "triton_poi_fused_add_0" },
    { "nvjet_sm90_hsh_256x128_64x4_1x2_h_bz_coopA_NNT", NULL, "nvjet_sm90_hsh_256x128_64x4_1x2_h_bz_coopA_NNT",
      "nvjet_sm90_hsh_256x128_64x4_1x2_h_bz_coopA_NNT" },
    /* No function's text. */
    { "Memcpy HtoD (Pageable -> Device)", NULL, "Memcpy HtoD (Pageable -> Device)",
      "Memcpy HtoD (Pageable -> Device)" },
    { "layer 1 <half", NULL, "layer 1 <half", "layer 1 <half" },
    { "a>b", NULL, "a>b", "a>b" },
    { "(x)", NULL, "(x)", "(x)" },
    { "f(", NULL, "f(", "f(" },
    { "f<", NULL, "f<", "f<" },
    { "a::", NULL, "a::", "a::" },
    { "operator", NULL, "operator", "operator" },
    { "", NULL, "", "" },
    /* Damaged: the last name that can be read, or as it is. */
    { "_ZN1a1fIiEEvi", "void a::f<int>(int)", "f<int>", "f" },
    { "_ZN2at6reduceIi", "_ZN2at6reduceIi", "reduce", "reduce" },
    { "_ZN99999999999999999999a", "_ZN99999999999999999999a", "_ZN99999999999999999999a",
      "_ZN99999999999999999999a" },
    { "_Z", "_Z", "_Z", "_Z" },
};

static void check(char *text, const char *expected, const char *name)
{
    if (expected != NULL && strcmp(text, expected) != 0)
        fail_msg("'%s' gave '%s', not '%s'", name, text, expected);
    free(text);
}

static void names_are_what_their_source_has(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct names *names = &cases[i];
        bool mangled = strncmp(names->name, "_Z", 2) == 0;

        check(gt_demangle(names->name), mangled ? names->demangled : names->name, names->name);
        check(gt_function_name(names->name), names->function, names->name);
        check(gt_base_name(names->name), names->base, names->name);
    }
}

/* Each parameter is p of the one before, twice: 30 of them stand for 2^30 names. */
static void a_name_that_doubles_is_left(void **state)
{
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    char name[600] = "_Z1f1pIiiE", *end = name + strlen(name);

    (void)state;
    alarm(60);
    for (int i = 0; i < 30; i++)
        end += sprintf(end, "S_IS%c_S%c_E", digits[i], digits[i]);
    check(gt_demangle(name), name, name);
    check(gt_base_name(name), "f", name);
    alarm(0);
}

/* As deep as a name that is looked at can be: no end of the stack. */
static void a_deep_name_is_no_crash(void **state)
{
    static const char *const deepening[] = { "P",  "K",   "N1a", "1fI", "F",  "DpT_", "X",
                                             "Dt", "L_Z", "S_I", "M1a", "A_", "cv",   "on" };
    static char name[5000];

    (void)state;
    alarm(60);
    for (size_t i = 0; i < sizeof deepening / sizeof deepening[0]; i++) {
        for (size_t most = 1000; most < sizeof name - 100; most += 1000) {
            char *end = stpcpy(name, "_Z1fI1a");

            while ((size_t)(end - name) < most - 20)
                end = stpcpy(end, deepening[i]);
            strcpy(end, "iEvT_");
            check(gt_demangle(name), NULL, name);
            check(gt_base_name(name), NULL, name);
        }
    }
    alarm(0);
}

/* Megabytes of nested names, which nothing demangles: its parts are not measured to its end each. */
static void a_long_name_takes_no_time(void **state)
{
    enum { PARTS = 2000000 };
    char *name = malloc(2 * PARTS + 4), *end = stpcpy(name, "_ZN");

    (void)state;
    assert_non_null(name);
    alarm(60);
    for (int i = 0; i < PARTS; i++)
        end = stpcpy(end, "1a");
    check(gt_base_name(name), "a", "a long name");
    alarm(0);
    free(name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_what_their_source_has),
        cmocka_unit_test(a_name_that_doubles_is_left),
        cmocka_unit_test(a_deep_name_is_no_crash),
        cmocka_unit_test(a_long_name_takes_no_time),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
