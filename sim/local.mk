# The simulator: no file format, no database, no terminal, no CUDA.
noinst_LIBRARIES += sim/libsim.a
sim_libsim_a_SOURCES = \
    sim/api.c sim/api.h \
    sim/alone.c \
    sim/arbitration.c \
    sim/barrier.c \
    sim/blockcost.c sim/blockcost.h \
    sim/build.c \
    sim/contention.c sim/contention.h \
    sim/copy.c \
    sim/demand.c sim/demand.h \
    sim/device.c sim/device.h \
    sim/device_keys.c \
    sim/device_value.c sim/device_value.h \
    sim/dist.c \
    sim/duration.c \
    sim/engine.c sim/engine.h \
    sim/error.c sim/error.h \
    sim/graph.c \
    sim/heap.c sim/heap.h \
    sim/host.c \
    sim/hwq.c \
    sim/kernel.c \
    sim/machine.h \
    sim/modelled.c sim/modelled.h \
    sim/occupancy.c sim/occupancy.h \
    sim/op.c \
    sim/place.c \
    sim/plan.c sim/plan.h \
    sim/plan_blocked.c \
    sim/plan_edges.c \
    sim/plan_waits.c \
    sim/policy.c sim/policy.h \
    sim/pools.c \
    sim/probe.c sim/probe.h \
    sim/program.c sim/program.h \
    sim/rate.c sim/rate.h \
    sim/rate_limit.c \
    sim/rate_solve.c \
    sim/simulate.c sim/simulate.h \
    sim/share.c sim/share.h \
    sim/sm.c \
    sim/stream.c \
    sim/transform.c sim/transform.h \
    sim/warm.c sim/warm.h \
    sim/warp.c sim/warp.h \
    sim/warp_act.c \
    sim/warp_build.c \
    sim/warp_costs.h \
    sim/warp_decode.c \
    sim/warp_grid.c \
    sim/warp_issue.c \
    sim/warp_memory.c \
    sim/warp_misses.c \
    sim/warp_parts.h \
    sim/warp_policy.c \
    sim/warp_rare.c \
    sim/warp_reads.c \
    sim/warp_sync.c \
    sim/warp_walk.c \
    sim/waves.c sim/waves.h \
    sim/workload.c sim/workload_check.c sim/workload.h

# Device files, found at run time by gt_data_path().
devicesdir = $(pkgdatadir)/devices
dist_devices_DATA = \
    sim/devices/a100.ini sim/devices/h100.ini sim/devices/h200.ini \
    sim/devices/toy.ini sim/devices/v100.ini
