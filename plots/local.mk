# The report: gnuplot templates and what fills them.
noinst_LIBRARIES += plots/libplots.a
plots_libplots_a_SOURCES = \
    plots/data/kernel_view.c plots/data/kernel_view.h plots/data/view.c plots/data/view.h \
    plots/data/live_rows.c plots/data/live_rows.h \
    plots/data/report_folder.c plots/data/report_folder.h plots/figures/sms.c \
    plots/page/page_change.c plots/data/suite_view.c plots/data/suite_view.h plots/data/units.c plots/data/units.h \
    plots/figures/axes.c plots/figures/axes.h plots/figures/copies.c plots/figures/cycles.c \
    plots/figures/errors.c plots/figures/families.c plots/figures/figure.h plots/figures/gnuplot.c \
    plots/figures/gnuplot.h plots/figures/kernel_roofline.c plots/figures/labels.c plots/figures/labels.h plots/figures/placement.c plots/figures/roofline.c \
    plots/figures/stalls.c plots/figures/suite.c plots/figures/table.c plots/figures/timeline.c plots/figures/ranks.c plots/figures/workers.c plots/page/page.c \
    plots/page/page.h plots/page/page_live.c plots/page/page_kernels.c plots/page/page_names.c \
    plots/page/page_run.c plots/page/page_suite.c plots/page/page_table.c \
    plots/page/page_table.h plots/page/page_timeline.c plots/page/page_limit.c plots/page/page_overview.c plots/page/page_why.c plots/page/parts.h plots/page/report.c \
    plots/page/report.h plots/page/page_plain.c plots/page/page_plain.h plots/page/page_serve.c plots/page/page_sweep.c plots/data/serve_view.c plots/data/serve_view.h \
    plots/figures/serve_figures.c plots/figures/serve_figures.h plots/data/sweep_view.c plots/data/sweep_view.h plots/figures/sweep_figures.c \
    plots/figures/sweep_figures.h

templatesdir = $(pkgdatadir)/templates
dist_templates_DATA = \
    plots/templates/copies.gp plots/templates/cycles.gp plots/templates/errors.gp plots/templates/families.gp \
    plots/templates/placement.gp plots/templates/report.css plots/templates/roofline.gp plots/templates/kernel-roofline.gp plots/templates/sms.gp \
    plots/templates/ranks.gp plots/templates/stalls.gp plots/templates/style.gp plots/templates/suite.gp plots/templates/timeline.gp plots/templates/workers.gp \
    plots/templates/timeline.js \
    plots/templates/warps.gp plots/templates/sweep.gp plots/templates/sweep-map.gp plots/templates/serve-latency.gp plots/templates/serve-timeline.gp plots/templates/serve-policies.gp
EXTRA_DIST += plots/example.png plots/data/README.md plots/figures/README.md plots/page/README.md \
    plots/templates/README.md
