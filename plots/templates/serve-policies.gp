# The 99th percentile of the first critical tenant, by policy: against its load, and against what is left for the others.
set multiplot layout 1,2
set logscale y
set ylabel "p99 (µs)" textcolor rgb ink offset 0.5,0
set key outside top center horizontal textcolor rgb ink
set lmargin at screen 1.0 * left_px / width
set rmargin at screen 0.48
set xlabel (loads ? "load of the critical tenant" : "") textcolor rgb ink
set xrange [*:*]
if (!loads) { unset xtics; set xrange [-1:1] }
plot for [i = 0:policies - 1] 'points.tsv' index i using 1:2 with linespoints pt 7 ps 0.8 lw 2 lc i + 1 title columnheader(1)
set xtics nomirror textcolor rgb ink
set xrange [*:*]
set lmargin at screen 0.58
set rmargin at screen 1.0 - 1.0 * right_px / width
set xlabel "best-effort requests per second" textcolor rgb ink
if (rates) { plot for [i = 0:policies - 1] 'points.tsv' index i using 3:2 with linespoints pt 7 ps 0.8 lw 2 lc i + 1 title columnheader(1) }
unset multiplot
unset key
unset logscale y
set lmargin at screen 1.0 * left_px / width
set rmargin at screen 1.0 - 1.0 * right_px / width
