# Tests: everything speaks TAP. A new test is one more name in a list.

# cmocka programs: tests/unit/NAME is built from tests/unit/NAME.c.
UNIT_TESTS = \
    tests/unit/program_match tests/unit/accelsim tests/unit/control_guess \
    tests/unit/base tests/unit/blocked_calls \
    tests/unit/calibrate \
    tests/unit/families \
    tests/unit/check tests/unit/check_memory tests/unit/check_random tests/unit/check_segments tests/unit/check_several tests/unit/check_wide tests/unit/schema \
    tests/unit/contradictions tests/unit/cuda_api tests/unit/dependences \
    tests/unit/nsys \
    tests/unit/nsys_broken \
    tests/unit/rocpd \
    tests/unit/xplane \
    tests/unit/task_slices tests/unit/recorded_costs \
    tests/unit/program \
    tests/unit/proxy_kernel \
    tests/unit/sass \
    tests/unit/files \
    tests/unit/trace tests/unit/decimal \
    tests/unit/warnings \
    tests/unit/child_launches \
    tests/unit/collectives tests/unit/collectives_oracle \
    tests/unit/trace_errors \
    tests/unit/kineto \
    tests/unit/datadir \
    tests/unit/demangle \
    tests/unit/golden \
    tests/unit/host_costs \
    tests/unit/host_gaps tests/unit/host_waits \
    tests/unit/export \
    tests/unit/device_file tests/unit/framework_file \
    tests/unit/device \
    tests/unit/device_sync \
    tests/unit/too_large \
    tests/unit/stats \
    tests/unit/stats_path \
    tests/unit/diff \
    tests/unit/stats_sweep \
    tests/unit/kernels \
    tests/unit/store \
    tests/unit/store_hostile \
    tests/unit/residency_bins \
    tests/unit/ranges tests/unit/index_map \
    tests/unit/compare \
    tests/unit/short_name \
    tests/unit/fair_share \
    tests/unit/links tests/unit/link_share tests/unit/thread_lock \
    tests/unit/isolated_durations \
    tests/unit/kernel_model \
    tests/unit/random tests/unit/ranks tests/unit/capture tests/unit/whatif_changes tests/unit/range tests/unit/rebuild \
    tests/unit/recorded tests/unit/recorded_memory tests/unit/recorded_others tests/unit/recorded_loads tests/unit/recording_cost \
    tests/unit/schedule \
    tests/unit/arrivals tests/unit/batching tests/unit/process_players tests/unit/serve_policies tests/unit/sharing tests/unit/kernel_family tests/unit/shapes tests/unit/convolution tests/unit/tensor tests/unit/work tests/unit/allocations tests/unit/reserved_memory \
    tests/unit/shrink \
    tests/unit/supervise \
    tests/unit/validate \
    tests/unit/l2_reuse \
    tests/unit/warp \
    tests/unit/warp_memory \
    tests/unit/policies \
    tests/unit/stated \
    tests/unit/whatif tests/unit/steady_steps tests/unit/accumulated tests/unit/training_threads \
    tests/unit/clusters \
    tests/unit/task_check tests/unit/tasks tests/unit/tasks_oracle tests/unit/tasks_steal tests/unit/tasks_stuck \
    tests/unit/warp_issue \
    tests/unit/table tests/unit/task_rows
# Many simulations of the same code: not under sanitizers.
LONG_UNIT_TESTS = tests/unit/rules tests/unit/steady_state

# bats files; the program under test is $GRIDTIDE.
# The longest first, so that none is left to run alone.
CLI_TESTS = \
    tests/cli/accuracy.bats tests/cli/sweep.bats tests/cli/training_loops.bats tests/cli/ranks.bats tests/cli/rules.bats \
    tests/cli/scenarios.bats tests/cli/explain_overview.bats tests/cli/report.bats \
    tests/cli/ncu.bats tests/cli/check.bats tests/cli/check_rules.bats tests/cli/execution_trace.bats \
    tests/cli/nsys.bats \
    tests/cli/rocpd.bats tests/cli/rpd.bats \
    tests/cli/xplane.bats \
    tests/cli/task_slices.bats \
    tests/cli/import.bats tests/cli/accelsim.bats tests/cli/accelsim_export.bats \
    tests/cli/late.bats tests/cli/passes.bats tests/cli/ranks_extrapolated.bats tests/cli/ranks_jobs.bats tests/cli/ranks_made.bats tests/cli/ranks_others.bats tests/cli/ranks_waits.bats \
    tests/cli/task_graphs.bats \
    tests/cli/calibrate.bats tests/cli/chakra.bats \
    tests/cli/chain.bats \
    tests/cli/files.bats \
    tests/cli/hostile.bats \
    tests/cli/hostile_stores.bats \
    tests/cli/main.bats tests/cli/quiet.bats \
    tests/cli/completion.bats tests/cli/install.bats tests/cli/package.bats tests/cli/tables.bats \
    tests/cli/terminal.bats \
    tests/cli/devices.bats \
    tests/cli/export.bats \
    tests/cli/man.bats \
    tests/cli/sweep_slurm.bats \
    tests/cli/stats.bats \
    tests/cli/report_browser.bats tests/cli/report_folder.bats tests/cli/report_names.bats \
    tests/cli/ranges.bats \
    tests/cli/run.bats \
    tests/cli/compare.bats \
    tests/cli/kernels.bats \
    tests/cli/programs.bats \
    tests/cli/suite.bats \
    tests/cli/unseen.bats \
    tests/cli/warnings.bats \
    tests/cli/validate.bats \
    tests/cli/gpus.bats \
    tests/cli/random.bats \
    tests/cli/batch.bats tests/cli/serve.bats tests/cli/share.bats \
    tests/cli/kept-apart.bats tests/cli/replay.bats tests/cli/whatif.bats tests/cli/whatif_step.bats tests/cli/whatif_sizes.bats tests/cli/whatif_pairs.bats tests/cli/explain.bats tests/cli/explain_recorded.bats tests/cli/explain_roofline.bats tests/cli/whatif_types.bats tests/cli/whatif_shape.bats tests/cli/whatif_hidden.bats tests/cli/published.bats \
    tests/cli/record.bats tests/cli/recorded.bats tests/cli/recorded_features.bats \
    tests/cli/diff.bats tests/cli/schedule.bats tests/cli/tasks_seen.bats tests/cli/collectives.bats

# Rules about the source itself, which are the same under the sanitizers.
SOURCE_TESTS = \
    tests/layers.sh \
    tests/rooms.sh

# Golden scenarios: traces and what the simulator must make of them.
GOLDEN_FILES = tests/golden

# Programs that need a GPU and skip without one: tests/gpu/NAME is built from tests/gpu/NAME.c.
GPU_TESTS = \
    tests/gpu/faults \
    tests/gpu/kernels \
    tests/gpu/tasks
GPU_BATS = tests/gpu/fault.bats
if HAVE_NVCC
GPU_TESTS_BUILT = $(GPU_TESTS)
check_DATA = tests/gpu/injected.so
CLEANFILES += tests/gpu/injected.so

# Only the driver loads it: no part of the program.
tests/gpu/injected.so: tests/gpu/injected.c
	@$(MKDIR_P) $(@D)
	$(AM_V_CC)$(CC) $(DEFS) $(AM_CPPFLAGS) $(CPPFLAGS) -std=gnu11 -Wall -Wextra $(CFLAGS) -shared -fPIC -o $@ \
	  $(srcdir)/tests/gpu/injected.c -lpthread -ldl
else
GPU_TESTS_BUILT =
endif
check_PROGRAMS += $(GPU_TESTS_BUILT)
tests_gpu_faults_LDADD = $(VALIDATE_LIBS) $(LDADD) $(VALIDATE_SYSTEM_LIBS)
tests_gpu_kernels_LDADD = kernels/libkernels.a sim/libsim.a $(CUDA_LIBS) -lm
tests_gpu_tasks_LDADD = kernels/libkernels.a sim/libsim.a $(CUDA_LIBS) -lm

if HAVE_CMOCKA
UNIT_TESTS_BUILT = $(UNIT_TESTS)
LONG_UNIT_TESTS_BUILT = $(LONG_UNIT_TESTS)
else
UNIT_TESTS_BUILT =
LONG_UNIT_TESTS_BUILT =
endif
if HAVE_RECORDER
if HAVE_CMOCKA
UNIT_TESTS_BUILT += tests/unit/recorder_calls
endif
endif
check_PROGRAMS += $(UNIT_TESTS_BUILT) $(LONG_UNIT_TESTS_BUILT)
tests_unit_table_SOURCES = tests/unit/table.c sim/cmd/print/terminal.c sim/cmd/print/json.c sim/cmd/print/table.c sim/cmd/print/table_people.c

tests_unit_recorded_SOURCES = tests/unit/recorded.c validate/record/chunks.c validate/record/writer.c validate/record/writer.h
tests_unit_recorded_loads_SOURCES = tests/unit/recorded_loads.c validate/record/chunks.c validate/record/writer.c validate/record/writer.h
tests_unit_recorder_calls_SOURCES = tests/unit/recorder_calls.c validate/record/activities.c validate/record/calls.c validate/record/control.c \
    validate/record/functions.c validate/record/graphs.c validate/record/pieces.c validate/record/rows.c validate/record/streams.c \
    validate/record/chunks.c validate/record/writer.c validate/record/writer.h
tests_unit_recorder_calls_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
tests_unit_recording_cost_SOURCES = tests/unit/recording_cost.c validate/record/chunks.c validate/record/writer.c validate/record/writer.h
tests_unit_recorded_others_SOURCES = tests/unit/recorded_others.c validate/record/chunks.c validate/record/writer.c validate/record/writer.h
tests_unit_recorded_memory_SOURCES = tests/unit/recorded_memory.c validate/record/chunks.c validate/record/writer.c validate/record/writer.h
LDADD = $(GRIDTIDE_LIBS) $(CMOCKA_LIBS)
tests_unit_contradictions_LDADD = validate/libvalidate.a $(LDADD)
tests_unit_check_LDADD = validate/libvalidate.a $(LDADD)
tests_unit_check_memory_LDADD = validate/libvalidate.a $(LDADD)
tests_unit_check_random_LDADD = validate/libvalidate.a $(LDADD)
tests_unit_check_segments_LDADD = validate/libvalidate.a $(LDADD)
tests_unit_check_wide_LDADD = validate/libvalidate.a $(LDADD)
tests_unit_dependences_LDADD = validate/libvalidate.a $(LDADD)
tests_unit_check_several_LDADD = validate/libvalidate.a $(LDADD)
tests_unit_random_LDADD = validate/libvalidate.a $(LDADD)
tests_unit_range_LDADD = validate/libvalidate.a $(LDADD)
tests_unit_rebuild_LDADD = validate/libvalidate.a $(LDADD)
tests_unit_whatif_changes_LDADD = validate/libvalidate.a $(LDADD)
tests_unit_accumulated_LDADD = validate/libvalidate.a $(LDADD)
tests_unit_capture_LDADD = validate/libvalidate.a $(LDADD)
tests_unit_blocked_calls_LDADD = validate/libvalidate.a $(LDADD)
tests_unit_rules_LDADD = validate/libvalidate.a $(LDADD)
tests_unit_shrink_LDADD = validate/libvalidate.a $(LDADD)
tests_unit_supervise_LDADD = validate/libvalidate.a $(LDADD)
tests_unit_proxy_kernel_LDADD = validate/libvalidate.a $(LDADD)
tests_unit_validate_LDADD = validate/libvalidate.a $(LDADD)
tests_unit_process_players_LDADD = validate/libvalidate.a $(LDADD)
tests_unit_host_costs_LDADD = validate/libvalidate.a $(LDADD)
tests_unit_host_gaps_LDADD = validate/libvalidate.a $(LDADD)

tests_unit_calibrate_LDADD = validate/libvalidate.a $(LDADD)
tests_unit_families_LDADD = validate/libvalidate.a $(LDADD)

# The sanitizers look at units, at fuzzed and broken inputs, and at each command once.
SANITIZED_CLI_TESTS = \
    tests/cli/files.bats tests/cli/hostile.bats tests/cli/hostile_stores.bats tests/cli/main.bats tests/cli/import.bats \
    tests/cli/nsys.bats tests/cli/rocpd.bats tests/cli/rpd.bats tests/cli/xplane.bats tests/cli/task_slices.bats tests/cli/ncu.bats tests/cli/check.bats tests/cli/compare.bats tests/cli/devices.bats \
    tests/cli/diff.bats tests/cli/explain.bats tests/cli/export.bats tests/cli/record.bats tests/cli/report_folder.bats \
    tests/cli/run.bats tests/cli/schedule.bats tests/cli/stats.bats tests/cli/sweep.bats tests/cli/task_graphs.bats \
    tests/cli/ranks.bats tests/cli/validate.bats tests/cli/whatif.bats tests/cli/whatif_sizes.bats tests/cli/explain_roofline.bats tests/cli/whatif_types.bats tests/cli/whatif_shape.bats tests/cli/whatif_hidden.bats

TESTS = $(UNIT_TESTS_BUILT) $(GPU_TESTS_BUILT) $(FUZZ_TESTS)
if SANITIZERS
TESTS += $(SANITIZED_CLI_TESTS)
else
TESTS += $(LONG_UNIT_TESTS_BUILT) $(CLI_TESTS) $(GPU_BATS) $(SOURCE_TESTS)
endif
TEST_EXTENSIONS = .bats .sh
EXTRA_DIST += $(CLI_TESTS) tests/cli/figures_helpers.bash tests/cli/report_helpers.bash tests/cli/ranks_helpers.bash $(GPU_BATS) tests/gpu/injected.c tests/gpu/kernel_cases.h $(FUZZ_TESTS) $(SOURCE_TESTS) $(GOLDEN_FILES) \
    tests/run-bats tests/data/stats-golden.sql tests/data/job.py tests/data/lstm.py tests/data/task_graphs.py \
    tests/unit/golden_cost.h tests/unit/task_machine.h tests/unit/recording.h tests/unit/two_kernels.h tests/unit/both_ways.h tests/unit/golden_directive.h tests/unit/stats_golden.h tests/unit/warp_program.h \
    tests/unit/check_oracle.h tests/unit/check_program.h tests/unit/check_text.h tests/unit/check_write.h tests/unit/imported.h tests/unit/sqlite_database.h tests/unit/task_oracle.h tests/unit/task_oracle_state.h tests/unit/task_oracle_steal.h tests/unit/task_scenario.h \
    tests/data/kineto-modern.json tests/data/kineto-modern.txt tests/data/kineto-old.json \
    tests/data/kineto-old.txt tests/data/kineto-nan.json tests/data/kineto-nan.txt \
    tests/data/kineto-loader.json tests/data/kineto-loader.txt tests/data/kineto-blocking.json tests/data/kineto-blocking.txt \
    tests/data/kineto-ranks.json tests/data/kineto-ranks.txt \
    tests/data/execution-trace tests/data/explain tests/data/xplane tests/data/ranks tests/data/accelsim tests/data/ncu tests/data/ncu-report \
    tests/data/nsys-2.9.sql tests/data/nsys-3.13.sql tests/data/nsys-3.24.sql tests/data/rocpd.sql tests/data/rpd.sql tests/data/protobuf.py tests/data/xplane.py tests/data/task_slices.py tests/data/persistent_graphs.py tests/data/kineto-rocm.json tests/data/kineto-rocm.txt \
    tests/data/chakra_checks.py tests/data/chakra_et.py tests/data/chakra_made.py tests/data/h200-by-hand.ini tests/data/recorder_stub.c validate/scripts/replay.sh validate/scripts/programs.sh

TAP_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
LOG_DRIVER = $(TAP_DRIVER)
BATS_LOG_DRIVER = $(TAP_DRIVER)
BATS_LOG_COMPILER = $(SHELL) $(top_srcdir)/tests/run-bats
SH_LOG_DRIVER = $(TAP_DRIVER)
SH_LOG_COMPILER = $(SHELL)
AM_LOG_DRIVER_FLAGS = --comments
AM_BATS_LOG_DRIVER_FLAGS = --comments
AM_SH_LOG_DRIVER_FLAGS = --comments

# Tests see the program just built and the data of the source tree, whatever the user has set.
AM_TESTS_ENVIRONMENT = \
    unset GRIDTIDE_DATA; \
    GRIDTIDE='$(abs_top_builddir)/gridtide'; export GRIDTIDE; \
    GRIDTIDE_BUILD='$(abs_top_builddir)'; export GRIDTIDE_BUILD; \
    GRIDTIDE_SOURCE='$(abs_top_srcdir)'; export GRIDTIDE_SOURCE; \
    GRIDTIDE_TRACES=$${GRIDTIDE_TRACES-'$(abs_top_srcdir)/../shared/traces'}; export GRIDTIDE_TRACES; \
    GRIDTIDE_SANITIZERS='@enable_sanitizers@'; export GRIDTIDE_SANITIZERS; \
    CMOCKA_MESSAGE_OUTPUT=TAP; export CMOCKA_MESSAGE_OUTPUT; \
    LC_ALL=C.UTF-8; export LC_ALL;

# Figures of speed and memory, on the machine at hand: every tests/bench/NAME.sh prints its own;
# tests/bench/NAME is built from tests/bench/NAME.c for them.
BENCHES_BUILT = \
    tests/bench/check_bench \
    tests/bench/import_bench \
    tests/bench/simulate_bench \
    tests/bench/store_bench \
    tests/bench/tasks_bench \
    tests/bench/timeline_bench
BENCHES = \
    tests/bench/accelsim.sh \
    tests/bench/check.sh \
    tests/bench/end_to_end.sh \
    tests/bench/import.sh \
    tests/bench/kernels.sh \
    tests/bench/mixes.sh \
    tests/bench/simulate.sh \
    tests/bench/store.sh \
    tests/bench/tasks.sh
EXTRA_PROGRAMS += $(BENCHES_BUILT)
CLEANFILES += $(BENCHES_BUILT)
EXTRA_DIST += tests/rooms.py tests/lint.sh tests/package.sh tests/cppcheck.txt tests/README.md tests/bench/README.md tests/bench.sh tests/accuracy.sh $(BENCHES)
EXTRA_DIST += tests/accuracy
# Every table of tests/accuracy, held against today's program.
.PHONY: accuracy
accuracy: all
	@$(AM_TESTS_ENVIRONMENT) $(top_srcdir)/tests/accuracy/table.sh check all
.PHONY: bench
bench: all $(BENCHES_BUILT)
	@$(AM_TESTS_ENVIRONMENT) \
	  GRIDTIDE_COMPILED='$(CC) $(AM_CFLAGS) $(CFLAGS)' $(SHELL) $(top_srcdir)/tests/bench.sh
