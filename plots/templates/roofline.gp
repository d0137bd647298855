# Warp instructions a cycle over warp instructions a byte of DRAM traffic.
set border 3
set logscale xy
set xrange [x_from:x_to]
set yrange [y_from:issue_peak * 2]
set samples 500
set xtics format '%g'
set ytics format '%g'
set xlabel "warp instructions per byte of DRAM traffic" textcolor rgb ink offset 0,0.2
set ylabel "warp instructions per cycle" textcolor rgb ink offset 0.5,0
set key left top reverse Left samplen 1 textcolor rgb ink
only(side) = column(3) == side ? column(2) : NaN
roof(x) = x * dram_peak < issue_peak ? x * dram_peak : issue_peak
plot roof(x) with lines lc rgb faint lw 1.5 notitle, \
    'points.tsv' using 1:(only(1)) with points pt 6 ps 0.8 lc rgb accent \
        title (measured > 0 ? "measured" : ""), \
    'points.tsv' using 1:(only(0)) with points pt 7 ps 0.6 lc rgb line \
        title (simulated > 0 ? "simulated" : ""), \
    'points.tsv' using 1:(only(simulated > 0 ? 0 : 1)):4 with labels left offset 0.7,0.3 font ",9" \
        textcolor rgb faint notitle
unset key
unset logscale
