# The validator: what needs no GPU is always built, the rest where there is an nvcc.
noinst_LIBRARIES += validate/libvalidate.a
validate_libvalidate_a_SOURCES = \
    validate/host_measure.c validate/host_measure.h validate/host_costs.c validate/host_costs.h validate/host_fit.c validate/host_noise_fit.c validate/host_samples.h \
    validate/proxy_kernel.c validate/proxy_kernel.h \
    validate/shrink_trace.c validate/shrink_trace.h validate/strip_times.c validate/strip_times.h \
    validate/validate.c validate/validate.h \
    validate/calibrate/analysis.c validate/calibrate/analysis.h validate/calibrate/calibrate.h \
    validate/calibrate/findings.c validate/calibrate/findings.h validate/calibrate/order.c validate/calibrate/process.c \
    validate/calibrate/process.h validate/calibrate/product_draw.c validate/calibrate/product_draw.h \
    validate/calibrate/product_table.c validate/calibrate/product_table.h \
    validate/gpu/supervise.c validate/gpu/supervise.h \
    validate/gpu/mps.c validate/gpu/mps.h validate/player/process_part.c validate/player/process_part.h \
    validate/player/processes.c validate/player/processes.h validate/gpu/together.c validate/gpu/together.h \
    validate/player/stored.c validate/player/stored.h \
    validate/random/calls.c validate/random/chance.c validate/random/chance.h validate/random/children.c validate/random/draw.c \
    validate/random/draw.h validate/random/families.c validate/random/families.h validate/random/gpus.c validate/random/graph.c validate/random/grid_sync.c validate/random/kernel_list.c validate/random/kernel_list.h validate/random/pairs.c \
    validate/random/reduce.c validate/random/reduce.h validate/random/reduce_tasks.c validate/random/reduce_tasks.h validate/random/script.h validate/random/shapes.c \
    validate/random/shrink.c validate/random/shrink.h \
    validate/random/tasks.c
VALIDATE_CUDA_SOURCES = \
    validate/calibrate/bench.c validate/calibrate/bench.h validate/calibrate/between.c \
    validate/calibrate/calibrate.c validate/calibrate/calls.c validate/calibrate/children.c validate/calibrate/code.c \
    validate/calibrate/connections.c validate/calibrate/copies.c validate/calibrate/cycles.c \
    validate/calibrate/cycles.h validate/calibrate/device.c validate/calibrate/dispatch.c validate/calibrate/gaps.c validate/calibrate/graphs.c \
    validate/calibrate/groups.h validate/calibrate/hopper.c validate/calibrate/latency.c validate/calibrate/grid_sync.c \
    validate/calibrate/launches.c validate/calibrate/link.c validate/calibrate/links.c validate/calibrate/memory.c \
    validate/calibrate/pageable.c validate/calibrate/pipes.c validate/calibrate/place.c \
    validate/calibrate/families.c validate/calibrate/products.c validate/calibrate/timed.c validate/calibrate/timed.h \
    validate/calibrate/policies.c validate/calibrate/queues.c validate/calibrate/rates.c validate/calibrate/sharing.c validate/calibrate/tasks.c \
    validate/calibrate/thread_team.c validate/calibrate/thread_team.h validate/calibrate/turns.c \
    validate/calibrate/waits.c \
    validate/gpu/cuda_error.c validate/gpu/cuda_error.h validate/gpu/green_driver.c validate/gpu/green_driver.h validate/gpu/cupti.c validate/gpu/cupti.h validate/gpu/other_users.c validate/gpu/other_users.h \
    validate/player/awake.c validate/player/calls.c validate/player/clock.c validate/player/edges.c \
    validate/player/allocations.c validate/player/children.c \
    validate/player/gpus.c validate/player/graph.c validate/player/green.c validate/player/internal.h validate/player/kernels.c \
    validate/player/lock.c validate/player/memory.c \
    validate/player/network.c validate/player/peer.c validate/player/player.c validate/player/records.c validate/player/tasks.c \
    validate/player/task_works.c validate/player/warm.c
VALIDATE_ABSENT_SOURCES = \
    validate/calibrate/absent.c \
    validate/player/absent.c
EXTRA_DIST += $(VALIDATE_CUDA_SOURCES) $(VALIDATE_ABSENT_SOURCES)
EXTRA_DIST += validate/README.md validate/RULES.md validate/rules.txt validate/scripts/rules_page.py validate/scripts/protocols.gp validate/scripts/protocols.py validate/scripts/serving.py validate/scripts/shapes.py validate/recordings/rules.csv validate/recordings/pairs-h100-41.tar.zst validate/recordings/pairs-h200-43.tar.zst validate/recordings/pairs-h200-271.tar.zst validate/recordings/random-20261128.db.zst validate/recordings/random-7004213.db.zst validate/recordings/small-cpcs.csv validate/scripts/pairs_drawn.sh validate/scripts/pair_gains.py validate/scripts/pair_terms.py validate/scripts/small_copies.py validate/device-launches.md validate/gpu/README.md validate/player/README.md validate/calibrate/README.md validate/random/README.md validate/recordings/h200.db validate/recordings/h200-figures.txt validate/recordings/host-waits.txt validate/recordings/programs.db \
    validate/recordings/programs-figures.txt validate/recordings/pairs.db \
    validate/recordings/random-1122.db.zst validate/recordings/random-2026.db.zst validate/recordings/random-90210.db.zst validate/recordings/random-77031.db.zst validate/recordings/random-555.db.zst validate/recordings/random-20261123.db.zst validate/recordings/random-880088.db.zst validate/recordings/judged-collectives.tar.zst validate/scripts/pairs.sh validate/scripts/rammer.gp validate/scripts/roofline.py validate/scripts/recorded_tasks.py validate/scripts/published.py validate/scripts/work.py validate/scripts/rammer.sh validate/scripts/task_times.cu validate/scripts/dram_load.cu validate/scripts/block_ends.py validate/recordings/block-ends.csv validate/recordings/dram-load.txt validate/recordings/pairs-h200-1009.tar.zst validate/recordings/pairs-h200-2718.tar.zst validate/recordings/arrivals-h200.tar.zst validate/recordings/random-7717.db.zst validate/recordings/random-40961.db.zst validate/recordings/random-60317.db.zst validate/recordings/shared-sliced.db.zst validate/recordings/shared-mps.db.zst validate/scripts/shared.sh validate/recordings/sharing-partition.tar.zst validate/recordings/sharing-h200.tar.zst validate/recordings/sharing.txt validate/scripts/arrivals.cu validate/scripts/arrivals_loads.cuh validate/scripts/arrivals.py validate/scripts/sharing.cuh validate/scripts/sharing.cu validate/scripts/sharing.py \
    validate/recordings/tasks-771942.tar.zst validate/recordings/children-429158.tar.zst validate/recordings/meetings.tar.zst validate/recordings/handed.db.zst validate/recordings/gpus.db.zst validate/recordings/random-314159.db.zst validate/recordings/random-4242.db.zst validate/scripts/gpus.sh validate/scripts/handed.sh validate/scripts/random.sh validate/scripts/random-record.sh validate/scripts/rules.sh validate/scripts/whatif.sh validate/scripts/whatif_recorded.py


# The library that `gridtide record` puts into programs: by itself, with nothing of the program linked in.
RECORDER_FILES = \
    validate/record/activities.c validate/record/api.c validate/record/calls.c validate/record/chunks.c validate/record/control.c \
    validate/record/exec.c validate/record/functions.c validate/record/graphs.c validate/record/inject.c validate/record/nvtx.c validate/record/pieces.c \
    validate/record/rows.c validate/record/streams.c validate/record/writer.c
RECORDER_INCLUDES = validate/record/chunks.h validate/record/internal.h validate/record/writer.h traces/recorded/records.h
EXTRA_DIST += $(RECORDER_FILES) validate/record/cost.cu validate/record/chunks.h validate/record/internal.h validate/record/writer.h validate/record/README.md
if HAVE_RECORDER
recorderdir = $(pkglibdir)
nodist_recorder_DATA = validate/record/libgridtide_record.so
nodist_recorder_SCRIPTS = validate/record/gridtide-record-cost
CLEANFILES += validate/record/libgridtide_record.so validate/record/gridtide-record-cost
validate/record/libgridtide_record.so: $(RECORDER_FILES) $(RECORDER_INCLUDES)
	@$(MKDIR_P) $(@D)
	$(AM_V_CC)$(CC) $(DEFS) -D_GNU_SOURCE -I$(top_srcdir) $(CUDA_CPPFLAGS) $(CPPFLAGS) -std=gnu11 -Wall -Wextra $(WARNING_CFLAGS) \
	  $(PREFIX_MAP_CFLAGS) $(CFLAGS) -fvisibility=hidden -shared -fPIC -o $@ $(RECORDER_FILES:%=$(srcdir)/%) -lpthread -ldl
# What recording costs, measured behind each recording.
validate/record/gridtide-record-cost: validate/record/cost.cu
	@$(MKDIR_P) $(@D)
	$(AM_V_NVCC)$(NVCC) $(KERNEL_NVCCFLAGS) $(NVCCFLAGS) $(NVCC_ARCH) -cudart static -o $@ $(srcdir)/validate/record/cost.cu
endif

if HAVE_NVCC
validate_libvalidate_a_SOURCES += $(VALIDATE_CUDA_SOURCES)
VALIDATE_LIBS = validate/libvalidate.a kernels/libkernels.a
VALIDATE_SYSTEM_LIBS = $(CUDA_LIBS)
else
validate_libvalidate_a_SOURCES += $(VALIDATE_ABSENT_SOURCES)
VALIDATE_LIBS = validate/libvalidate.a
VALIDATE_SYSTEM_LIBS =
endif

# Collectives: NCCL's header is enough to be played and measured.
VALIDATE_COLLECTIVES_SOURCES = validate/calibrate/collective_calls.c validate/calibrate/collectives.c validate/player/collectives.c validate/gpu/nccl.h
EXTRA_DIST += $(VALIDATE_COLLECTIVES_SOURCES) validate/gpu/nccl.c validate/gpu/nccl_absent.c \
    validate/scripts/collective_traces.py validate/scripts/collectives.py validate/recordings/collectives-sizes.csv validate/recordings/collectives-4711.tar.zst validate/recordings/traffic-5150.tar.zst validate/recordings/judged-traffic-60606.tar.zst validate/recordings/peers-7117.tar.zst
if HAVE_NVCC
validate_libvalidate_a_SOURCES += $(VALIDATE_COLLECTIVES_SOURCES)
if HAVE_NCCL
validate_libvalidate_a_SOURCES += validate/gpu/nccl.c
else
validate_libvalidate_a_SOURCES += validate/gpu/nccl_absent.c
endif
endif

# Matrix products: cuBLAS's headers are enough to be measured.
EXTRA_DIST += validate/gpu/cublas.c validate/gpu/cublas.h validate/gpu/cublas_absent.c
if HAVE_NVCC
validate_libvalidate_a_SOURCES += validate/gpu/cublas.h
if HAVE_CUBLAS
validate_libvalidate_a_SOURCES += validate/gpu/cublas.c
else
validate_libvalidate_a_SOURCES += validate/gpu/cublas_absent.c
endif
endif
