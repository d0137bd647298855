# The validator: what needs no GPU is always built, the rest where there is an nvcc.
noinst_LIBRARIES += validate/libvalidate.a
validate_libvalidate_a_SOURCES = \
    validate/calibrate.h \
    validate/calibrate_analysis.c validate/calibrate_analysis.h \
    validate/calibrate_findings.c \
    validate/calibrate_order.c \
    validate/calibrate_process.c validate/calibrate_process.h \
    validate/host_gaps.c validate/host_gaps.h \
    validate/player_stored.c validate/player_stored.h \
    validate/supervise.c validate/supervise.h \
    validate/surrogate.c validate/surrogate.h \
    validate/untimed.c validate/untimed.h \
    validate/validate.c validate/validate.h
VALIDATE_CUDA_SOURCES = \
    validate/calibrate.c \
    validate/calibrate_bench.c validate/calibrate_bench.h \
    validate/calibrate_between.c \
    validate/calibrate_hopper.c \
    validate/calibrate_calls.c \
    validate/calibrate_code.c \
    validate/calibrate_connections.c \
    validate/calibrate_copies.c \
    validate/calibrate_crew.c validate/calibrate_crew.h \
    validate/calibrate_cycles.c validate/calibrate_cycles.h \
    validate/calibrate_device.c \
    validate/calibrate_dispatch.c \
    validate/calibrate_gaps.c \
    validate/calibrate_groups.h \
    validate/calibrate_latency.c \
    validate/calibrate_launches.c \
    validate/calibrate_link.c \
    validate/calibrate_memory.c \
    validate/calibrate_pageable.c \
    validate/calibrate_pipes.c \
    validate/calibrate_place.c \
    validate/calibrate_policies.c \
    validate/calibrate_queues.c \
    validate/calibrate_rates.c \
    validate/calibrate_turns.c \
    validate/calibrate_waits.c \
    validate/cupti.c validate/cupti.h \
    validate/others.c validate/others.h \
    validate/player.c validate/player_parts.h \
    validate/player_awake.c \
    validate/player_calls.c \
    validate/player_clock.c \
    validate/player_edges.c \
    validate/player_graph.c \
    validate/player_kernels.c \
    validate/player_memory.c \
    validate/player_records.c \
    validate/player_warm.c
VALIDATE_ABSENT_SOURCES = \
    validate/calibrate_absent.c \
    validate/player_absent.c
EXTRA_DIST += $(VALIDATE_CUDA_SOURCES) $(VALIDATE_ABSENT_SOURCES)
EXTRA_DIST += validate/README.md validate/h200.db validate/h200-figures.txt validate/programs.db \
    validate/programs-figures.txt validate/pairs.db validate/pairs.sh

if HAVE_NVCC
validate_libvalidate_a_SOURCES += $(VALIDATE_CUDA_SOURCES)
VALIDATE_LIBS = validate/libvalidate.a kernels/libkernels.a
VALIDATE_SYSTEM_LIBS = $(CUDA_LIBS)
else
validate_libvalidate_a_SOURCES += $(VALIDATE_ABSENT_SOURCES)
VALIDATE_LIBS = validate/libvalidate.a
VALIDATE_SYSTEM_LIBS =
endif
