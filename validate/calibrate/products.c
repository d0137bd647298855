/* products.c - how long cuBLAS takes for matrix products of sizes that models have, drawn at random; part of families. */
#include <math.h>
#include <stdio.h>

#include "validate/calibrate/cycles.h"
#include "validate/calibrate/groups.h"
#include "validate/calibrate/product_draw.h"
#include "validate/calibrate/timed.h"
#include "validate/gpu/cublas.h"

/* Of each kind; all processes together have seven times as many.  The first ones are the same in all processes. */
enum { MOST = 143, COMMON = 64 };
enum { AT_ONCE = 256, TIMES = 4, FILL_THREADS = 256, FILL_BLOCKS = 4096, ALIGNMENT = 128 /* elements */ };
static const double longest_s = 12;
#define MOST_ELEMENTS  (UINT64_C(1) << 28)
#define LEAST_ELEMENTS (UINT64_C(1) << 24)

/* The left matrix is at the same place each time: what a kernel before has just written.  The right one, a model's weights, is
 * another part of its pool each time, so that L2 does not have it, unless it is of a batch: that was just written too. */
struct room {
    void *left[GT_NUMBERS], *right[GT_NUMBERS], *result;
    uint64_t elements; /* of each */
    uint64_t at[GT_NUMBERS];
};

static const uint32_t number_bytes[GT_NUMBERS] = { 2, 2, 4 };

struct sweep {
    struct gt_bench *bench;
    struct room room;
    struct gt_chance chance;
    struct gt_product_counts counts;
    uint32_t drawn, refused;
    char reason[120]; /* of the first one refused */
};

static void free_room(struct room *room)
{
    for (int i = 0; i < GT_NUMBERS; i++) {
        cudaFree(room->left[i]);
        cudaFree(room->right[i]);
    }
    cudaFree(room->result);
    *room = (struct room){ .elements = 0 };
}

static bool make_room_of(struct room *room, uint64_t elements)
{
    bool made = cudaMalloc(&room->result, elements * number_bytes[GT_NUMBER_FP32]) == cudaSuccess;

    room->elements = elements;
    for (int i = 0; i < GT_NUMBERS && made; i++)
        made = cudaMalloc(&room->left[i], elements * number_bytes[i]) == cudaSuccess &&
               cudaMalloc(&room->right[i], elements * number_bytes[i]) == cudaSuccess;
    if (made)
        return true;
    cudaGetLastError(); /* as if nobody had asked */
    free_room(room);
    return false;
}

static int fill(struct gt_bench *bench, void *to, uint64_t count, uint32_t number)
{
    void *arguments[] = { &to, &count, &number };

    return gt_bench_run(bench, (const void *)gt_calibrate_numbers, FILL_BLOCKS, FILL_THREADS, arguments);
}

/* As large as the GPU has memory for; numbers, since they decide how much power a product takes.  Elements 0: no memory. */
static int make_room(struct gt_bench *bench, struct room *room)
{
    for (uint64_t elements = MOST_ELEMENTS; elements >= LEAST_ELEMENTS; elements /= 2)
        if (make_room_of(room, elements))
            break;
    for (uint32_t i = 0; i < GT_NUMBERS && room->elements > 0; i++)
        if (fill(bench, room->left[i], room->elements, i) != 0 || fill(bench, room->right[i], room->elements, i) != 0)
            return -1;
    return 0;
}

/* Where the next matrix of so many elements lies. */
static const void *next_right(struct room *room, enum gt_number number, uint64_t count)
{
    uint64_t start = room->at[number] + count <= room->elements ? room->at[number] : 0;

    room->at[number] = start + (count + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return (const char *)room->right[number] + start * number_bytes[number];
}

static struct gt_cublas_matrices place(struct room *room, const struct gt_product *p, enum gt_number number)
{
    bool batched = p->form == GT_PRODUCT_TN_BATCHED || p->form == GT_PRODUCT_NN_BATCHED;

    return (struct gt_cublas_matrices){
        .left = room->left[number],
        .right = batched ? room->right[number] : next_right(room, number, (uint64_t)(p->n * p->k)),
        .bias = room->left[number],
        .result = room->result,
        .number = number,
    };
}

/* The next one whose kind is not complete. */
static bool draw(struct sweep *s, struct gt_product *product)
{
    if (s->drawn == COMMON)
        s->chance = gt_chance_of(s->bench->process, "products", 0);
    do {
        if (gt_product_counts_full(&s->counts, MOST))
            return false;
        *product = gt_product_draw(&s->chance, (double)s->room.elements);
    } while (!gt_product_count(&s->counts, product, MOST));
    s->drawn++;
    return true;
}

/* cuBLAS may have no kernel for a product: that is no error. */
static int launch(struct sweep *s, const struct gt_product *product)
{
    enum gt_number number = product->precision != GT_PRECISION_HALF ? GT_NUMBER_FP32
                            : gt_chance_in(&s->chance, 1, 2)        ? GT_NUMBER_BF16
                                                                    : GT_NUMBER_FP16;
    struct gt_error why;
    int refused = 0;

    if (gt_timed_next(s->bench) != 0)
        return -1;
    for (int i = 0; i < TIMES && !refused; i++) {
        struct gt_cublas_matrices matrices = place(&s->room, product, number);

        refused = gt_cublas_multiply(product, &matrices, s->bench->streams[0], &why) != 0;
    }
    if (refused && s->refused++ == 0)
        snprintf(s->reason, sizeof s->reason, "%.100s", why.text);
    return 0;
}

/* Returns how many; 0: all kinds are complete; -1. */
static int measure_some(struct sweep *s)
{
    struct gt_product products[AT_ONCE];
    double us[AT_ONCE * TIMES];
    int count = 0;

    for (; count < AT_ONCE && draw(s, &products[count]); count++)
        if (launch(s, &products[count]) != 0)
            return -1;
    if (gt_timed_read(s->bench, (size_t)count, TIMES, us) != 0)
        return -1;
    for (int i = 0; i < count; i++)
        if (!isnan(us[i * TIMES])) /* the first time loads code */
            gt_found_product(s->bench->found, &(struct gt_product_point){
                                                  products[i], gt_summarise(us + i * TIMES + 1, TIMES - 1).median });
    return count;
}

static int measure(struct sweep *s)
{
    uint64_t end_ns = gt_clock_ns() + (uint64_t)(longest_s * 1e9);
    int count;

    do
        count = measure_some(s);
    while (count > 0 && gt_clock_ns() < end_ns);
    if (s->refused > 0)
        gt_found_note(s->bench->found, "products: %u of %u were refused: %s", s->refused, s->drawn, s->reason);
    return count < 0 ? -1 : 0;
}

int gt_calibrate_products(struct gt_bench *bench)
{
    struct sweep s = { .bench = bench, .chance = gt_chance_of(0, "products", 1) };
    struct gt_error why;
    int status = 0;

    if (bench->no_tables) {
        gt_not_found(bench->found, "product.sweep",
                     "a table of products goes beside a device file: give -o FILE.ini");
        return 0;
    }
    if (gt_cublas_open(&why) != 0) {
        gt_not_found(bench->found, "product.sweep", "%s", why.text);
        gt_found_note(bench->found, "matrix products were not measured: %s", why.text);
        return 0;
    }
    snprintf(bench->found->library, sizeof bench->found->library, "cuBLAS %s", gt_cublas_version());
    status = make_room(bench, &s.room);
    if (status == 0 && s.room.elements == 0)
        gt_not_found(bench->found, "product.sweep", "no memory for matrices");
    else if (status == 0)
        status = measure(&s);
    free_room(&s.room);
    gt_cublas_close();
    return status;
}
