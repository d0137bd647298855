# Traces in and out of files, the store, exporters.
noinst_LIBRARIES += traces/libtraces.a
traces_libtraces_a_SOURCES = \
    traces/borrow.c traces/borrow.h \
    traces/cuda_api.c traces/cuda_api.h \
    traces/datadir.c traces/datadir.h \
    traces/demangle.c traces/demangle.h \
    traces/devicefile.c traces/devicefile.h traces/devicenames.c \
    traces/export.c traces/export.h traces/export_parts.h \
    traces/export_blocks.c traces/export_calls.c traces/export_ops.c \
    traces/export_csv.c traces/export_perfetto.c \
    traces/gpu_names.c traces/gpu_names.h \
    traces/import.c \
    traces/import_blocking.c traces/import_blocking.h \
    traces/import_common.c traces/import_common.h \
    traces/import_device.c traces/import_device.h \
    traces/import_finish.c traces/import_join.c traces/import_parts.h \
    traces/csv.c traces/csv.h \
    traces/cubin.c traces/cubin.h \
    traces/decimal.c traces/decimal.h \
    traces/input.c traces/input.h \
    traces/json_line.c traces/json_line.h \
    traces/jsonl_emit.c traces/jsonl_emit.h \
    traces/jsonl_fields.c traces/jsonl_fields.h \
    traces/jsonl_keys.c traces/jsonl_keys.h \
    traces/jsonl_program.h traces/jsonl_read_program.c traces/jsonl_write_program.c \
    traces/jsonl_read.c traces/jsonl_read.h \
    traces/jsonl_read_call.c traces/jsonl_read_definitions.c \
    traces/jsonl_read_header.c traces/jsonl_read_kernel.c \
    traces/jsonl_refs.c traces/jsonl_refs.h \
    traces/jsonl_rules.c traces/jsonl_rules.h \
    traces/jsonl_write.c traces/jsonl_write_call.c \
    traces/kineto.c traces/kineto.h traces/kineto_parts.h \
    traces/kineto_device.c traces/kineto_event.c traces/kineto_join.c \
    traces/kineto_json.c traces/kineto_number.c \
    traces/judge.c \
    traces/kernels.c traces/kernels.h traces/kernels_error.c \
    traces/kernels_inside.c traces/kernels_parts.h \
    traces/lines.c traces/lines.h \
    traces/ncu.c traces/ncu.h traces/ncu_parts.h \
    traces/ncu_code.c traces/ncu_raw.c traces/ncu_cubins.c traces/ncu_report.c traces/ncu_source.c \
    traces/nsys.c traces/nsys.h traces/nsys_parts.h \
    traces/nsys_calls.c traces/nsys_gpus.c traces/nsys_info.c traces/nsys_names.c traces/nsys_ops.c \
    traces/nsys_db.c traces/nsys_db.h traces/nsys_open.c \
    traces/output.c traces/output_reserve.c traces/output_sweep.c traces/output_sweep.h traces/output.h \
    traces/compare.c \
    traces/correlation.c traces/correlation.h \
    traces/measured.c \
    traces/perfetto.c traces/perfetto.h \
    traces/order.c traces/order.h \
    traces/placement.c traces/placement.h \
    traces/program_blocks.c traces/program_build.c traces/program_build.h \
    traces/program_counts.c traces/program_loops.c traces/program_polls.c \
    traces/program_regions.c traces/program_roles.c \
    traces/program_make.c traces/program_make.h \
    traces/program_taint.c traces/program_taint.h traces/program_threads.c \
    traces/repeats.c traces/repeats.h \
    traces/sass.c traces/sass.h traces/sass_opcodes.c \
    traces/sink.c traces/sink_bins.c traces/sink_bins.h \
    traces/stats.c traces/stats.h \
    traces/stats_kernels.c traces/stats_load.c traces/stats_ops.c traces/stats_parts.h \
    traces/stats_path.c traces/stats_path_file.c traces/stats_query.c traces/stats_sm.c \
    traces/stats_sweep.c traces/stats_sweep.h \
    traces/store.c traces/store_define.c traces/store_drop.c traces/store_kernels.c \
    traces/store.h traces/store_parts.h \
    traces/trace.h \
    traces/utf8.c traces/utf8.h

# The schema as C strings: `static const char gt_schema_sql[], gt_schema_kernels_sql[]`.
nodist_traces_libtraces_a_SOURCES = traces/schema_sql.h traces/paths.h
BUILT_SOURCES += traces/schema_sql.h traces/paths.h
CLEANFILES += traces/schema_sql.h traces/paths.h
EXTRA_DIST += traces/schema.sql traces/schema_kernels.sql traces/samples traces/scenarios traces/kernels

traces/schema_sql.h: $(top_srcdir)/traces/schema.sql $(top_srcdir)/traces/schema_kernels.sql
	@$(MKDIR_P) traces
	$(AM_V_GEN){ echo '/* Made from traces/schema.sql and traces/schema_kernels.sql. */'; \
	  for name in schema schema_kernels; do \
	    echo "static const char gt_$${name}_sql[] ="; \
	    sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/^/    "/' -e 's/$$/\\n"/' \
	      $(top_srcdir)/traces/$$name.sql; \
	    echo '    ;'; \
	  done; } > $@.tmp && mv $@.tmp $@

# Where data files are: installed, in the source tree, and how to tell which to take.
traces/paths.h: Makefile
	@$(MKDIR_P) traces
	$(AM_V_GEN){ echo '/* Made by make. */'; \
	  echo '#define GT_INSTALLED_DATA "$(pkgdatadir)"'; \
	  echo '#define GT_SOURCE_TREE "$(abs_top_srcdir)"'; \
	  echo '#define GT_BUILD_TREE "$(abs_top_builddir)"'; } > $@.tmp && mv $@.tmp $@

# The Perfetto messages as C.
nodist_traces_libtraces_a_SOURCES += traces/perfetto.pb-c.c traces/perfetto.pb-c.h
BUILT_SOURCES += traces/perfetto.pb-c.c traces/perfetto.pb-c.h
CLEANFILES += traces/perfetto.pb-c.c traces/perfetto.pb-c.h
EXTRA_DIST += traces/perfetto.proto

traces/perfetto.pb-c.h: traces/perfetto.pb-c.c
traces/perfetto.pb-c.c: $(top_srcdir)/traces/perfetto.proto
	@$(MKDIR_P) traces
	$(AM_V_GEN)$(PROTOC_C) --proto_path=$(top_srcdir)/traces --c_out=traces \
	  $(top_srcdir)/traces/perfetto.proto
