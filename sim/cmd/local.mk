# The program: main.c holds the command table, every command is one file.
bin_PROGRAMS += gridtide
gridtide_SOURCES = \
    sim/cmd/calibrate.c \
    sim/cmd/check.c sim/cmd/check_misuses.c sim/cmd/check_misuses.h sim/cmd/check_texts.c sim/cmd/check_texts.h \
    sim/cmd/cmd.h \
    sim/cmd/common.c sim/cmd/common.h \
    sim/cmd/compare.c sim/cmd/compare_many.c sim/cmd/compare_parts.h \
    sim/cmd/devices.c \
    sim/cmd/diff.c sim/cmd/diff_operations.c sim/cmd/diff_parts.h sim/cmd/diff_tables.c \
    sim/cmd/explain.c sim/cmd/explain_kernel.c sim/cmd/explain_parts.h sim/cmd/explain_tables.c sim/cmd/explain_timeline.c \
    sim/cmd/export.c \
    sim/cmd/fold.c sim/cmd/fold.h \
    sim/cmd/import.c sim/cmd/inquiry.c sim/cmd/inquiry.h \
    sim/cmd/judged.c sim/cmd/judged.h \
    sim/cmd/json.c sim/cmd/json.h \
    sim/cmd/kernel_tables.c sim/cmd/kernel_tables.h \
    sim/cmd/main.c \
    sim/cmd/options.c sim/cmd/options.h \
    sim/cmd/parse.c \
    sim/cmd/profiles.c sim/cmd/profiles.h \
    sim/cmd/progress.c sim/cmd/progress.h \
    sim/cmd/recordings.c sim/cmd/recordings.h \
    sim/cmd/record.c sim/cmd/record_parts.h sim/cmd/record_report.c sim/cmd/record_cost.c sim/cmd/record_run.c sim/cmd/record_wait.c \
    sim/cmd/report.c \
    sim/cmd/schedule.c \
    sim/cmd/rules.c sim/cmd/rules.h \
    sim/cmd/run.c sim/cmd/run_change.c sim/cmd/run_departure.c sim/cmd/run_input.c sim/cmd/run_input.h \
    sim/cmd/run_kernels.c sim/cmd/run_kernels.h sim/cmd/run_parts.h sim/cmd/run_result.c sim/cmd/run_store.c \
    sim/cmd/stats.c sim/cmd/stats_path.c sim/cmd/stats_path.h sim/cmd/stats_ranges.c sim/cmd/stats_ranges.h sim/cmd/stats_tasks.c sim/cmd/stats_tasks.h \
    sim/cmd/stats_tables.c sim/cmd/stats_tables.h \
    sim/cmd/sweep.c sim/cmd/sweep_deal.c sim/cmd/sweep_deal.h sim/cmd/sweep_frame.c sim/cmd/sweep_frame.h \
    sim/cmd/sweep_parts.h sim/cmd/sweep_pool.c sim/cmd/sweep_print.c sim/cmd/sweep_slurm.c sim/cmd/sweep_store.c \
    sim/cmd/sweep_tasks.c sim/cmd/sweep_worker.c \
    sim/cmd/table.c sim/cmd/table.h sim/cmd/table_parts.h sim/cmd/table_people.c sim/cmd/table_print.c \
    sim/cmd/task_costs.c sim/cmd/task_costs.h \
    sim/cmd/terminal.c sim/cmd/terminal.h \
    sim/cmd/validate.c \
    sim/cmd/validate_arguments.c sim/cmd/validate_arguments.h sim/cmd/validate_input.c sim/cmd/validate_input.h \
    sim/cmd/validate_shrink.c sim/cmd/validate_shrink.h \
    sim/cmd/whatif.c sim/cmd/whatif_parts.h sim/cmd/whatif_print.c sim/cmd/whatif_store.c
gridtide_LDADD = $(VALIDATE_LIBS) $(GRIDTIDE_LIBS) $(VALIDATE_SYSTEM_LIBS)

# Completion: both ask the program for its commands, options and values, so that they say what it has.
bashcompletiondir = $(datadir)/bash-completion/completions
dist_bashcompletion_DATA = sim/completion/gridtide
zshcompletiondir = $(datadir)/zsh/site-functions
dist_zshcompletion_DATA = sim/completion/_gridtide
