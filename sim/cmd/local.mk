# The program: main.c holds the command table, every command is one file of a room.
bin_PROGRAMS += gridtide
gridtide_SOURCES = \
    sim/cmd/main.c \
    sim/cmd/gpu/calibrate.c sim/cmd/gpu/devices.c sim/cmd/gpu/validate_shrink.c sim/cmd/gpu/validate_shrink.h sim/cmd/gpu/validate_arguments.c sim/cmd/gpu/validate_arguments.h sim/cmd/gpu/validate.c \
    sim/cmd/input/cmd.h sim/cmd/input/common.c sim/cmd/input/common.h sim/cmd/input/inquiry.c sim/cmd/input/inquiry.h \
    sim/cmd/input/options.c sim/cmd/input/options.h \
    sim/cmd/input/profiles.c sim/cmd/input/recordings.c sim/cmd/input/recordings.h \
    sim/cmd/input/run_input.c sim/cmd/input/run_input.h sim/cmd/input/shared_input.c sim/cmd/input/shared_input.h \
    sim/cmd/print/terminal.c sim/cmd/print/terminal.h sim/cmd/print/json.c sim/cmd/print/json.h sim/cmd/print/judged.c \
    sim/cmd/print/judged.h sim/cmd/print/kernel_tables.c sim/cmd/print/kernel_tables.h \
    sim/cmd/print/table.c sim/cmd/print/table.h sim/cmd/print/table_parts.h \
    sim/cmd/print/table_people.c \
    sim/cmd/report/breakdown_tables.c sim/cmd/report/breakdown_tables.h sim/cmd/report/compare.c sim/cmd/report/compare_many.c sim/cmd/report/compare_parts.h sim/cmd/report/diff.c \
    sim/cmd/report/diff_parts.h sim/cmd/report/diff_tables.c \
    sim/cmd/report/explain.c sim/cmd/report/explain_kernels.c sim/cmd/report/explain_tables.c sim/cmd/report/explain_parts.h \
    sim/cmd/report/predict.c sim/cmd/report/predict.h \
    sim/cmd/report/explain_timeline.c sim/cmd/report/export.c \
    sim/cmd/report/report.c sim/cmd/report/stats.c sim/cmd/report/stats_sections.c sim/cmd/report/stats_sections.h sim/cmd/report/stats_workers.c sim/cmd/report/stats_workers.h \
    sim/cmd/report/stats_tables.c \
    sim/cmd/report/stats_tables.h \
    sim/cmd/run/run.c sim/cmd/run/run_change.c sim/cmd/run/run_result.c sim/cmd/run/run_tables.c sim/cmd/run/run_engine.c sim/cmd/run/run_parts.h \
    sim/cmd/run/run_store.c sim/cmd/run/sweep.c \
    sim/cmd/run/sweep_frame.c sim/cmd/run/sweep_frame.h sim/cmd/run/sweep_parts.h \
    sim/cmd/run/sweep_pool.c sim/cmd/run/sweep_print.c sim/cmd/run/sweep_slurm.c sim/cmd/run/sweep_store.c \
    sim/cmd/run/sweep_tasks.c sim/cmd/run/sweep_worker.c sim/cmd/run/whatif.c sim/cmd/run/whatif_parts.h \
    sim/cmd/run/whatif_print.c sim/cmd/run/whatif_store.c \
    sim/cmd/serve/batch.c sim/cmd/serve/batch_print.c sim/cmd/serve/batch_print.h sim/cmd/serve/pass_costs.c sim/cmd/serve/pass_costs.h \
    sim/cmd/serve/right_size.c sim/cmd/serve/right_size.h sim/cmd/serve/request_cut.c sim/cmd/serve/request_cut.h sim/cmd/serve/serve.c sim/cmd/serve/serve_load.c sim/cmd/serve/serve_load.h \
    sim/cmd/serve/serve_print.c sim/cmd/serve/serve_print.h sim/cmd/serve/serve_result.c sim/cmd/serve/serve_result.h sim/cmd/serve/serve_window.c sim/cmd/serve/serve_window.h \
    sim/cmd/trace/check.c sim/cmd/trace/check_texts.c sim/cmd/trace/check_texts.h \
    sim/cmd/trace/import.c sim/cmd/trace/record.c sim/cmd/trace/record_cost.c \
    sim/cmd/trace/record_run.c sim/cmd/trace/record_parts.h \
    sim/cmd/trace/schedule.c
gridtide_LDADD = $(VALIDATE_LIBS) $(GRIDTIDE_LIBS) $(VALIDATE_SYSTEM_LIBS)

# Completion: both ask the program for its commands, options and values, so that they say what it has.
bashcompletiondir = $(datadir)/bash-completion/completions
dist_bashcompletion_DATA = sim/completion/gridtide
zshcompletiondir = $(datadir)/zsh/site-functions
dist_zshcompletion_DATA = sim/completion/_gridtide
