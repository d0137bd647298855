/* fair_share.h - who gets how much of resources that do not suffice for all: weighted max-min fairness.
 *
 * Users have rates.  At rate 1 consumer u takes amount[u][r] of resource r; of r there is capacity[r].
 * All rates grow together, rate[u] = level x speed[u], and a consumer stops growing when it has its bound, or
 * when a resource that it takes anything of is used up:
 *
 *     sum over u of rate[u] x amount[u][r] <= capacity[r]   for every r
 *     rate[u] <= bound[u]                                   for every u
 *
 * and no rate can be raised without lowering one whose rate / speed is as low or lower.  That is unique. With
 * speeds of 1 / (largest share that the consumer takes of anything at rate 1) it is dominant resource
 * fairness (Ghodsi et al., NSDI'11); with one resource, max-min fairness as in SimGrid's lmm.
 */
#ifndef GRIDTIDE_SIM_BASE_FAIR_SHARE_H
#define GRIDTIDE_SIM_BASE_FAIR_SHARE_H

#include <stdbool.h>
#include <stdint.h>

struct gt_maxmin_consumer {
    double bound;                   /* of its rate, > 0 */
    double speed;                   /* > 0 */
    uint32_t first_demand, demands; /* in gt_share.demands */
    double rate;                    /* out */
    bool settled;                   /* the solver's: the rate is final */
};

struct gt_maxmin_demand {
    uint32_t resource;
    double amount;
}; /* amount > 0 */

/* A resource; what it can give is set by the caller, the rest is the solver's. */
struct gt_maxmin_resource {
    double capacity, used, rising;
};

/* The arrays are the caller's to free(). */
struct gt_maxmin {
    struct gt_maxmin_consumer *consumers;
    uint32_t consumer_count, consumer_room;
    struct gt_maxmin_demand *demands;
    uint32_t demand_count, demand_room;
    struct gt_maxmin_resource *resources;
    uint32_t resource_count, resource_room;
};

/* An empty problem, in the memory of the last one. */
void gt_maxmin_clear(struct gt_maxmin *maxmin);
/* Add a resource; returns its number.  A capacity below 0 counts as 0. */
uint32_t gt_maxmin_add_resource(struct gt_maxmin *maxmin, double capacity);
/* Add a consumer; gt_maxmin_add_demand() then adds what the consumer added last takes of a resource; an amount
 * that is not above 0 is nothing. */
uint32_t gt_maxmin_add_consumer(struct gt_maxmin *maxmin, double bound, double speed);
void gt_maxmin_add_demand(struct gt_maxmin *maxmin, uint32_t resource, double amount);
/* Fill in every consumer's rate. */
void gt_maxmin_solve(struct gt_maxmin *maxmin);
/* The arrays; the problem is empty then. */
void gt_maxmin_free(struct gt_maxmin *maxmin);

#endif
