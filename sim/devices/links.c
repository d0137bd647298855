#include "sim/devices/links.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const gt_link_kind_names[GT_LINK_KINDS] = { "nvlink", "pcie", "host" };

enum { GPU_DIGITS = 3, RATE_LETTERS = 15 };
static const double most_gbps = 1000000;
static const char between[] = " ,"; /* words */

/* One word of link.pairs. */
struct pair {
    bool all;       /* the first word: it names no GPUs */
    bool both_ways; /* A-B, not A>B */
    uint32_t from, to;
    enum gt_link_kind kind;
    double gbps; /* 0: as its kind */
};

static bool take_number(const char **text, uint32_t *number)
{
    size_t length = strspn(*text, "0123456789");

    if (length == 0 || length > GPU_DIGITS)
        return false;
    *number = (uint32_t)strtoul(*text, NULL, 10);
    *text += length;
    return true;
}

static bool take_gpus(const char **text, struct pair *pair)
{
    char way;

    if (!take_number(text, &pair->from))
        return false;
    way = *(*text)++;
    if ((way != '-' && way != '>') || !take_number(text, &pair->to) || *(*text)++ != '=')
        return false;
    pair->both_ways = way == '-';
    return pair->from != pair->to;
}

static bool take_kind(const char **text, struct pair *pair)
{
    for (int kind = 0; kind < GT_LINK_KINDS; kind++) {
        size_t length = strlen(gt_link_kind_names[kind]);

        if (strncmp(*text, gt_link_kind_names[kind], length) != 0)
            continue;
        *text += length;
        pair->kind = (enum gt_link_kind)kind;
        return true;
    }
    return false;
}

static bool take_rate(const char **text, struct pair *pair)
{
    const char *at = ++*text;
    size_t length = strspn(at, "0123456789.");

    if (length == 0 || length > RATE_LETTERS || memchr(at, '.', length) != strrchr(at, '.') || *at == '.')
        return false;
    pair->gbps = strtod(at, NULL);
    *text += length;
    return pair->gbps > 0 && pair->gbps <= most_gbps;
}

/* The word at *text, which is moved behind it; false: it is none. */
static bool take_pair(const char **text, bool first, struct pair *pair)
{
    *pair = (struct pair){ .all = first };
    return (first || take_gpus(text, pair)) && take_kind(text, pair) &&
           (first || **text != ':' || take_rate(text, pair)) && (strchr(between, **text) != NULL || **text == '\0');
}

int gt_links_check(const struct gt_device *device, struct gt_error *error)
{
    const char *text = device->link_pairs;
    struct pair pair;

    for (bool first = true; *text != '\0' || first; first = false) {
        const char *word = text;

        if (!take_pair(&text, first, &pair))
            return gt_error_set(error, "link.pairs: '%.*s' is not %s", (int)strcspn(word, between), word,
                                first ? "nvlink, pcie or host, the kind of all links"
                                      : "a pair of GPUs, as in 0-1=pcie, 0>1=host or 0-1=nvlink:100");
        text += strspn(text, between);
    }
    return 0;
}

static struct gt_copy_cost cost_of(const struct gt_device *device, enum gt_link_kind kind)
{
    const struct gt_copy_cost *const costs[GT_LINK_KINDS] = {
        [GT_LINK_NVLINK] = &device->p2p, [GT_LINK_PCIE] = &device->link_pcie, [GT_LINK_HOST] = &device->link_host
    };

    return *costs[kind];
}

struct gt_link gt_link_between(const struct gt_device *device, uint32_t from, uint32_t to)
{
    const char *text = device->link_pairs;
    struct gt_link link = { 0 };
    struct pair pair;

    for (bool first = true; (*text != '\0' || first) && take_pair(&text, first, &pair); first = false) {
        text += strspn(text, between);
        if (!pair.all && !(pair.from == from && pair.to == to) &&
            !(pair.both_ways && pair.from == to && pair.to == from))
            continue;
        link = (struct gt_link){ pair.kind, cost_of(device, pair.kind) };
        if (pair.gbps > 0)
            link.cost.gbps = pair.gbps;
    }
    return link;
}

bool gt_link_of_copy(const struct gt_workload *w, const struct gt_device *device, const struct gt_op *op,
                     struct gt_link *link, gt_gpu_index *from, gt_gpu_index *to)
{
    if (!gt_copy_between(w, op, from, to))
        return false;
    *link = gt_gpus_are_peers(w, *from, *to) ? gt_link_between(device, w->gpus[*from].id, w->gpus[*to].id)
                                             : (struct gt_link){ GT_LINK_HOST, device->link_host };
    return true;
}

struct gt_link gt_link_of_kernel(const struct gt_workload *w, const struct gt_device *device, const struct gt_op *op,
                                 gt_gpu_index *from, gt_gpu_index *to)
{
    gt_gpu_index own = w->streams[op->stream].gpu;

    *from = op->from_peer ? op->peer_gpu : own;
    *to = op->from_peer ? own : op->peer_gpu;
    return gt_link_between(device, w->gpus[*from].id, w->gpus[*to].id);
}

double gt_link_kernel_gbps(const struct gt_device *device, const struct gt_link *link)
{
    return link->kind == GT_LINK_NVLINK ? fmin(link->cost.gbps, device->link_kernel_gbps) : link->cost.gbps;
}

gt_time_ps gt_link_kernel_ps(const struct gt_workload *w, const struct gt_device *device, const struct gt_op *op,
                             uint64_t resident, gt_time_ps access_ps)
{
    gt_gpu_index from, to;
    struct gt_link link = gt_link_of_kernel(w, device, op, &from, &to);
    double gbps = gt_link_kernel_gbps(device, &link);
    double accesses = ceil((double)op->bytes / GT_PEER_ACCESS_BYTES / (double)resident);

    return (gt_time_ps)(fmax(accesses * (double)access_ps, (double)access_ps + (double)op->bytes * 1000 / gbps) +
                        0.5);
}
