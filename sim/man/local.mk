# The manual: one page for the program, one a command.
dist_man_MANS += \
    sim/man/gridtide.1 \
    sim/man/gridtide-batch.1 \
    sim/man/gridtide-calibrate.1 \
    sim/man/gridtide-check.1 \
    sim/man/gridtide-compare.1 \
    sim/man/gridtide-devices.1 \
    sim/man/gridtide-diff.1 \
    sim/man/gridtide-explain.1 \
    sim/man/gridtide-export.1 \
    sim/man/gridtide-import.1 \
    sim/man/gridtide-model.7 \
    sim/man/gridtide-record.1 \
    sim/man/gridtide-report.1 \
    sim/man/gridtide-run.1 \
    sim/man/gridtide-schedule.1 \
    sim/man/gridtide-serve.1 \
    sim/man/gridtide-stats.1 \
    sim/man/gridtide-store.5 \
    sim/man/gridtide-sweep.1 \
    sim/man/gridtide-traces.7 \
    sim/man/gridtide-validate.1 \
    sim/man/gridtide-whatif.1
