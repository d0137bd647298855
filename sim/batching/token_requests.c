#include "sim/batching/token_requests.h"

#include <math.h>

#include "sim/base/array.h"
#include "sim/workload/block_cost.h"

/* Streams of random numbers, beside that of arrivals, which is 0. */
enum { OF_PROMPTS = 1, OF_OUTPUTS = 2 };

/* Of the standard normal distribution (Box and Muller). */
static double normal(uint64_t seed, uint64_t of, uint64_t number)
{
    double first = ((double)gt_random_bits(seed, of, 2 * number) + 0.5) / 0x1p64;
    double second = ((double)gt_random_bits(seed, of, 2 * number + 1) + 0.5) / 0x1p64;

    return sqrt(-2 * log(first)) * cos(2 * M_PI * second);
}

/* The logarithm's mean is such that the mean is as asked. */
static uint32_t draw(const struct gt_token_lengths *lengths, uint64_t seed, uint64_t of, uint64_t number)
{
    double spread = lengths->spread;
    double tokens = lengths->mean * (spread > 0 ? exp(spread * normal(seed, of, number) - spread * spread / 2) : 1);

    return (uint32_t)fmin(fmax(1, tokens + 0.5), lengths->most);
}

struct gt_token_request *gt_token_requests_draw(const struct gt_arrivals *arrivals,
                                                const struct gt_token_lengths *prompt,
                                                const struct gt_token_lengths *output, const uint32_t *prompts,
                                                const uint32_t *outputs, uint32_t most, uint32_t *count)
{
    struct gt_arrivals_at at = { 0 };
    struct gt_token_request *requests = NULL, request;
    uint32_t room = 0;

    for (*count = 0; *count < most && gt_arrivals_next(arrivals, &at, 0, &request.arrival_ps); (*count)++) {
        request.prompt_tokens = prompts != NULL ? prompts[*count] : draw(prompt, arrivals->seed, OF_PROMPTS, *count);
        request.output_tokens = outputs != NULL ? outputs[*count] : draw(output, arrivals->seed, OF_OUTPUTS, *count);
        gt_array_grow(requests, *count, room);
        requests[*count] = request;
    }
    return requests;
}
