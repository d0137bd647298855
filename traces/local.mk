# Traces in and out of files, the store, exporters.
noinst_LIBRARIES += traces/libtraces.a
traces_libtraces_a_SOURCES = \
    traces/importers.c traces/importers.h \
    traces/accelsim/access.c traces/accelsim/accelsim.c traces/accelsim/accelsim.h traces/accelsim/block_order.c traces/accelsim/caches.c \
    traces/accelsim/fold.c traces/accelsim/header.c traces/accelsim/internal.h traces/accelsim/line.c traces/accelsim/places.c traces/accelsim/program.c \
    traces/accelsim/sass_text.c traces/accelsim/traceg.c traces/accelsim/tracez.c traces/accelsim/write.c traces/accelsim/write_kernel.c \
    traces/chakra/chakra.c traces/chakra/chakra.h traces/chakra/et_attributes.c traces/chakra/et_attributes.h traces/chakra/et_build.c traces/chakra/et_build.h traces/chakra/et_file.c traces/chakra/et_file.h \
    traces/chakra/et_order.c traces/chakra/et_order.h traces/chakra/et_recorded.c traces/chakra/et_stated.c traces/chakra/kernel_work.c traces/chakra/kernel_work.h traces/chakra/node_message.c traces/chakra/node_message.h traces/chakra/node_plan.c traces/chakra/node_plan.h traces/chakra/write.c \
    traces/compare/compare.c traces/compare/compare.h traces/compare/kernel_error.c traces/compare/kernel_error.h \
    traces/compare/verdict.c traces/compare/kernel_cycles.c traces/compare/kernel_cycles.h \
    traces/compare/kernel_advice.c traces/compare/kernel_numbers.c traces/compare/kernel_numbers.h traces/compare/kernel_order.c traces/compare/kernel_order.h \
    traces/compare/metrics.c traces/compare/metrics.h \
    traces/compare/repetitions.c traces/compare/repetitions.h traces/compare/verdict.h \
    traces/diff/diff.c traces/diff/diff.h traces/diff/matching.c \
    traces/diff/matching.h \
    traces/explain/blocked.c traces/explain/copies.c traces/explain/families.c traces/explain/families.h traces/explain/breakdown.c traces/explain/breakdown.h traces/explain/breakdown_lanes.c traces/explain/breakdown_parts.h \
    traces/explain/explain.h traces/explain/findings.c traces/explain/findings_parts.h traces/explain/findings_time.c traces/explain/findings_roofline.c \
    traces/explain/host_time.c traces/explain/host_time.h \
    traces/explain/launch_tree.c traces/explain/launch_tree.h traces/explain/launch_work.c traces/explain/launch_work.h traces/explain/limits.c traces/explain/limits.h traces/explain/pairs.c traces/explain/part.c traces/explain/part.h traces/explain/ranks.c traces/explain/ranks.h \
    traces/explain/loaded_ranges.h traces/explain/loaded_ranges.c traces/explain/overview.c traces/explain/overview.h \
    traces/explain/run_options.c traces/explain/run_options.h \
    traces/explain/loaded_run.c traces/explain/loaded_run.h traces/explain/task_bound.c traces/explain/task_bound.h traces/explain/why.c traces/explain/why.h \
    traces/export/blocks.c traces/export/calls.c traces/export/export.h \
    traces/export/export_accelsim.c traces/export/export_chakra.c traces/export/export_csv.c traces/export/export_table.c traces/export/export_perfetto.c traces/export/exporters.c traces/export/rows.c traces/export/serve.c traces/export/internal.h traces/export/operations.c \
    traces/export/perfetto.c \
    traces/import/allocations.c traces/import/blocking_streams.c traces/import/blocking_streams.h traces/import/builder.c \
    traces/import/builder.h traces/import/collectives.c traces/import/collectives.h traces/import/cuda_api.c traces/import/cuda_api.h traces/import/device.c \
    traces/import/device.h traces/import/finish.c traces/import/importer.h traces/import/index_map.c traces/import/index_map.h traces/import/internal.h traces/import/join.c \
    traces/import/directions.c traces/import/infer_calls.c traces/import/priorities.c traces/import/warnings.c traces/import/warnings.h \
    traces/io/child.c traces/io/child.h traces/io/csv.c traces/io/csv.h traces/io/data_path.c traces/io/data_path.h traces/io/decimal.c traces/io/decimal.h \
    traces/io/device_file.c traces/io/device_file.h traces/io/framework_file.c traces/io/product_file.c traces/io/product_file.h traces/io/framework_file.h traces/io/key_file.c traces/io/key_file.h traces/store/answers.c traces/store/answers.h traces/io/input.c traces/io/input.h \
    traces/io/json_line.c traces/io/json_line.h traces/io/lines.c traces/io/lines.h traces/io/output.c \
    traces/io/output.h traces/io/output_reserve.c \
    traces/io/overwrite.c traces/io/overwrite.h traces/io/protobuf_fields.c traces/io/protobuf_fields.h traces/io/temporary.c traces/io/temporary.h \
    traces/jsonl/allocations.c traces/jsonl/emit.c traces/jsonl/emit.h traces/jsonl/fields.c traces/jsonl/fields.h traces/jsonl/keys.c \
    traces/jsonl/keys.h traces/jsonl/program.h traces/jsonl/read.c traces/jsonl/read_buffer.c traces/jsonl/read_call.c \
    traces/jsonl/write_call.c \
    traces/jsonl/read_definitions.c traces/jsonl/read_header.c traces/jsonl/read_kernel.c traces/jsonl/read_launches.c traces/jsonl/write.c \
    traces/jsonl/link_tasks.c traces/jsonl/read_program.c traces/jsonl/ranges.c traces/jsonl/read_task.c \
    traces/jsonl/read_task_columns.c traces/jsonl/read_task_graph.c traces/jsonl/task_lines.h \
    traces/jsonl/reader.c traces/jsonl/reader.h traces/jsonl/refs.c traces/jsonl/refs.h \
    traces/jsonl/trace.h traces/jsonl/write_program.c \
    traces/jsonl/write_task_columns.c traces/jsonl/write_task_columns.h traces/jsonl/write_tasks.c \
    traces/kineto/category.c traces/kineto/number.c traces/kineto/schema.c traces/kineto/collective.c traces/kineto/device.c traces/kineto/event.c traces/kineto/execution_trace.c traces/kineto/execution_trace.h traces/kineto/range.c traces/kineto/inputs.c traces/kineto/internal.h traces/kineto/join.c traces/kineto/json.c \
    traces/kineto/kineto.c traces/kineto/kineto.h \
    traces/kineto/tensors.c traces/kineto/tensors.h traces/kineto/tensors_allocator.c traces/kineto/tensors_memory.c traces/kineto/tensors_parts.h \
    traces/names/clean_text.c traces/names/clean_text.h traces/names/demangle.c traces/names/demangle.h traces/names/gpu_names.c traces/names/gpu_names.h \
    traces/names/short_name.c traces/names/short_name.h \
    traces/ncu/code.c traces/ncu/cubins.c traces/ncu/internal.h traces/ncu/ncu.c traces/ncu/ncu.h traces/ncu/raw.c \
    traces/ncu/report.c traces/ncu/source.c \
    traces/nsys/calls.c traces/nsys/gpus.c traces/nsys/info.c \
    traces/nsys/internal.h traces/nsys/names.c traces/nsys/nsys.c traces/nsys/nsys.h \
    traces/nsys/operations.c traces/nsys/ranges.c traces/nsys/report.c \
    traces/operators/implementation.c traces/operators/internal.h traces/operators/operator.c traces/operators/operators.h traces/operators/read.c \
    traces/loads/arrival_file.c traces/loads/arrival_file.h traces/loads/load_file.c traces/loads/load_file.h traces/loads/load_lines.c traces/loads/load_lines.h traces/loads/engine_file.c traces/loads/engine_file.h \
    traces/ranks/align.c traces/ranks/check.c traces/ranks/internal.h traces/ranks/match.c traces/ranks/merge.c traces/ranks/messages.c traces/ranks/order.c traces/ranks/rank.h traces/ranks/ranks.c traces/ranks/ranks.h traces/ranks/shift.c traces/ranks/unnamed.c \
    traces/recorded/bodies.c traces/recorded/calls.c traces/recorded/costs.c traces/recorded/describe.c traces/recorded/file.c traces/recorded/givers.c traces/recorded/graphs.c traces/recorded/host_nodes.c traces/recorded/hosts.c traces/recorded/loads.c \
    traces/recorded/internal.h traces/recorded/memory.c traces/recorded/operations.c traces/recorded/parameters.c traces/recorded/pieces.c \
    traces/recorded/parameters.h traces/recorded/ranges.c traces/recorded/recorded.c traces/recorded/recorded.h \
    traces/recorded/records.h \
    traces/sass/basic_blocks.c traces/sass/control_flow.h traces/sass/control_guess.c traces/sass/control_guess.h traces/sass/cubin.c traces/sass/cubin.h \
    traces/sass/divergence.c traces/sass/edge_counts.c traces/sass/loops.c traces/sass/opcodes.c \
    traces/sass/polling.c traces/sass/program_make.c traces/sass/program_make.h traces/sass/program_match.c \
    traces/sass/program_match.h traces/sass/operands.c traces/sass/parts.h traces/sass/sass.c traces/sass/sass.h traces/sass/taint.c traces/sass/taint.h \
    traces/sass/warp_roles.c \
    traces/stats/compute.c traces/stats/work.c traces/stats/critical_path.c traces/stats/internal.h traces/stats/kernels.c traces/stats/load.c \
    traces/stats/operations.c traces/stats/operators.c traces/stats/path_file.c traces/stats/sm.c traces/stats/steps.c traces/stats/tasks.c traces/stats/stats.h \
    traces/stats/sweep.c traces/stats/sweep.h \
    traces/store/definitions.c traces/store/drop.c traces/store/database.c traces/store/database.h traces/store/internal.h traces/store/kernel_rows.c traces/store/task_rows.c traces/store/tables.c traces/store/tables.h traces/store/range_rows.c \
    traces/store/run_relations.c traces/store/placement.c traces/store/placement.h traces/store/plain_rows.c traces/store/plain_rows.h traces/store/comparison.c traces/store/comparison.h traces/store/query.c traces/store/query.h traces/store/recorded.c traces/store/recorded.h traces/store/run_rows.c traces/store/run_rows.h \
    traces/store/residency_bins.c traces/store/residency_bins.h traces/store/row_source.c traces/store/row_source.h traces/store/run_writer.c traces/store/selection.c traces/store/selection.h traces/store/store.c \
    traces/store/store.h traces/store/sweep_plan.c traces/store/serve_rows.c traces/store/serve_rows.h traces/store/sweep_rows.c traces/store/sweep_rows.h \
    traces/rocpd/agents.c traces/rocpd/internal.h traces/rocpd/lookups.c traces/rocpd/operations.c traces/rocpd/regions.c traces/rocpd/rocpd.c traces/rocpd/rocpd.h \
    traces/rocpd/rpd.c traces/rocpd/rpd.h traces/rocpd/targets.c \
    traces/tables/db.c traces/tables/db.h traces/tables/open.c \
    traces/tasks/assign.c traces/tasks/automegakernel.c traces/tasks/chrome_events.c traces/tasks/chrome_events.h traces/tasks/costs.c traces/tasks/costs.h traces/tasks/costs_attach.c traces/tasks/costs_parts.h traces/tasks/document.c traces/tasks/document.h \
    traces/tasks/internal.h traces/tasks/mirage.c traces/tasks/recorded_costs.c traces/tasks/recorded_costs.h traces/tasks/slices.c traces/tasks/slices.h \
    traces/tasks/slices_parts.h traces/tasks/slices_perfetto.c traces/tasks/slices_proton.c traces/tasks/tasks.c traces/tasks/tasks.h \
    traces/xplane/early_starts.c traces/xplane/gpus.c traces/xplane/host.c traces/xplane/internal.h traces/xplane/memory.c traces/xplane/names.c traces/xplane/operations.c \
    traces/xplane/operators.c traces/xplane/planes.c traces/xplane/xplane.c traces/xplane/xplane.h

EXTRA_DIST += traces/accelsim/README.md traces/chakra/README.md traces/io/README.md traces/names/README.md traces/import/README.md traces/kineto/README.md \
    traces/nsys/README.md traces/ncu/README.md traces/jsonl/README.md traces/operators/README.md traces/sass/README.md \
    traces/store/README.md traces/stats/README.md traces/compare/README.md traces/explain/README.md traces/diff/README.md traces/export/README.md traces/ranks/README.md traces/loads/README.md traces/loads/decode.jsonl traces/recorded/README.md traces/tasks/README.md traces/tables/README.md traces/rocpd/README.md traces/xplane/README.md

# The schemas as C strings: `static const char gt_NAME_sql[]` for each schema*.sql.
nodist_traces_libtraces_a_SOURCES = traces/store/schema_sql.h traces/io/paths.h
BUILT_SOURCES += traces/store/schema_sql.h traces/io/paths.h
CLEANFILES += traces/store/schema_sql.h traces/io/paths.h
EXTRA_DIST += traces/store/schema_files.sql traces/store/schema_plain.sql traces/store/schema_shapes.sql traces/store/schema_collectives.sql traces/store/schema_executables.sql traces/store/schema_peers.sql
EXTRA_DIST += traces/store/schema.sql traces/store/schema_kernels.sql traces/store/schema_ranges.sql traces/store/schema_tasks.sql traces/store/schema_answers.sql traces/store/schema_children.sql traces/store/schema_polls.sql traces/store/schema_sweep.sql traces/store/schema_serve.sql \
    traces/record traces/recorded_tasks traces/recorded_programs traces/recorded_features traces/branches traces/pairs traces/protocols traces/scenarios traces/profiles traces/training traces/recorded_pairs traces/shapes traces/serving traces/published
# Lessons to try the program with.
examplesdir = $(docdir)/examples
dist_examples_DATA = \
    traces/samples/README.md traces/samples/cuda-default-stream.json.gz traces/samples/cuda-fork-join.json.gz \
    traces/samples/cuda-leftover.json.gz traces/samples/cuda-overlap-1.json.gz traces/samples/cuda-overlap-2.json.gz \
    traces/samples/cuda-overlap-4.json.gz traces/samples/cuda-priority.json.gz traces/samples/default-stream-trap.jsonl \
    traces/samples/event-chain.jsonl traces/samples/overlap-1-stream.jsonl traces/samples/overlap-2-streams.jsonl \
    traces/samples/overlap-4-streams.jsonl traces/samples/pageable-copies-block.jsonl \
    traces/samples/priority-inversion.jsonl traces/samples/pytorch-convolutions.json.gz \
    traces/samples/pytorch-decode.json.gz traces/samples/pytorch-prefetch.json.gz \
    traces/samples/pytorch-training-step.json.gz traces/samples/pytorch-transformer-graph.json.gz \
    traces/samples/race-gradient-repaired.jsonl traces/samples/race-gradient.jsonl \
    traces/samples/race-reuse-repaired.jsonl traces/samples/race-reuse.jsonl traces/samples/tail-wave.jsonl

traces/store/schema_sql.h: $(top_srcdir)/traces/store/schema.sql $(top_srcdir)/traces/store/schema_kernels.sql \
    $(top_srcdir)/traces/store/schema_ranges.sql $(top_srcdir)/traces/store/schema_tasks.sql $(top_srcdir)/traces/store/schema_answers.sql $(top_srcdir)/traces/store/schema_children.sql $(top_srcdir)/traces/store/schema_polls.sql $(top_srcdir)/traces/store/schema_collectives.sql $(top_srcdir)/traces/store/schema_executables.sql $(top_srcdir)/traces/store/schema_peers.sql $(top_srcdir)/traces/store/schema_files.sql $(top_srcdir)/traces/store/schema_plain.sql $(top_srcdir)/traces/store/schema_shapes.sql $(top_srcdir)/traces/store/schema_sweep.sql $(top_srcdir)/traces/store/schema_serve.sql
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN){ echo '/* Made from traces/store/schema*.sql. */'; \
	  for name in schema schema_kernels schema_ranges schema_tasks schema_answers schema_children schema_polls schema_collectives schema_executables schema_peers schema_files schema_plain schema_shapes schema_sweep schema_serve; do \
	    echo "static const char gt_$${name}_sql[] ="; \
	    sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/^/ "/' -e 's/$$/\\n"/' \
	      $(top_srcdir)/traces/store/$$name.sql; \
	    echo ' ;'; \
	  done; } > $@.tmp && mv $@.tmp $@

# Where data files are once they are installed.
traces/io/paths.h: Makefile
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN){ echo '#define GT_INSTALLED_DATA "$(pkgdatadir)"'; \
	  echo '#define GT_INSTALLED_PROGRAMS "$(bindir)"'; \
	  echo '#define GT_INSTALLED_LIBRARIES "$(pkglibdir)"'; } > $@.tmp && mv $@.tmp $@

# BUILT_SOURCES are made before "all" and "check" only: what includes them says so, for a program made by its name.
traces/io/data_path.$(OBJEXT): traces/io/paths.h
sim/cmd/trace/record_run.$(OBJEXT): traces/io/paths.h
traces/store/store.$(OBJEXT): traces/store/schema_sql.h

# Beside each program that is built and not installed: where its source is, so that none has to have it in
# itself (traces/io/data_path.c).
SOURCE_MARKS = gridtide.source tests/bench/gridtide.source tests/fuzz/gridtide.source tests/unit/gridtide.source
EXTRA_gridtide_DEPENDENCIES = gridtide.source
BUILT_SOURCES += $(SOURCE_MARKS)
CLEANFILES += $(SOURCE_MARKS)
$(SOURCE_MARKS): Makefile
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)echo '$(abs_top_srcdir)' > $@.tmp && mv $@.tmp $@

EXTRA_DIST += traces/networks

# The messages of each .proto as C. protoc-c writes a header, too.
messages = traces/chakra/et_def.proto traces/export/perfetto.proto traces/xplane/xplane.proto
messages_c = $(messages:.proto=.pb-c.c)
messages_h = $(messages:.proto=.pb-c.h)
nodist_traces_libtraces_a_SOURCES += $(messages_c) $(messages_h)
BUILT_SOURCES += $(messages_c) $(messages_h)
CLEANFILES += $(messages_c) $(messages_h)
EXTRA_DIST += $(messages)
SUFFIXES += .proto .pb-c.c .pb-c.h
.proto.pb-c.c:
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(PROTOC_C) --proto_path=`dirname $<` --c_out=$(@D) $<
.pb-c.c.pb-c.h:
	@:

# What includes them: see BUILT_SOURCES above.
messages_users = traces/export/perfetto.$(OBJEXT) traces/tasks/slices_perfetto.$(OBJEXT) \
    traces/chakra/et_attributes.$(OBJEXT) traces/chakra/et_build.$(OBJEXT) traces/chakra/et_file.$(OBJEXT) \
    traces/chakra/et_order.$(OBJEXT) traces/chakra/et_recorded.$(OBJEXT) traces/chakra/node_message.$(OBJEXT) \
    traces/chakra/write.$(OBJEXT) \
    traces/xplane/early_starts.$(OBJEXT) traces/xplane/gpus.$(OBJEXT) traces/xplane/host.$(OBJEXT) \
    traces/xplane/memory.$(OBJEXT) traces/xplane/names.$(OBJEXT) traces/xplane/operations.$(OBJEXT) \
    traces/xplane/operators.$(OBJEXT) traces/xplane/planes.$(OBJEXT) traces/xplane/xplane.$(OBJEXT)
$(messages_users): $(messages_h)
