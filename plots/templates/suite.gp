# Makespans of every trace: measured across, simulated up.
set border 3
set logscale xy
set xrange [axis_from:axis_to]
set yrange [axis_from:axis_to]
set xtics format '%g'
set ytics format '%g'
if (axis_to < 500 * axis_from) { # too few powers of ten to read by
    do for [power = int(floor(log10(axis_from))):int(ceil(log10(axis_to)))] {
        do for [part in "2 5"] {
            set xtics add (sprintf('%g', part * 10.0 ** power) part * 10.0 ** power)
            set ytics add (sprintf('%g', part * 10.0 ** power) part * 10.0 ** power)
        }
    }
}
set xlabel sprintf("measured makespan (%s)", axis_unit) textcolor rgb ink offset 0,0.2
set ylabel sprintf("simulated makespan (%s)", axis_unit) textcolor rgb ink offset 0.5,0
set key left top reverse Left samplen 1 textcolor rgb ink
set label 1 legend[4] at graph 0.98, graph 0.05 right textcolor rgb ink
only(side) = column(3) == side ? column(2) : NaN
plot x with lines lc rgb faint lw 1 dashtype 2 notitle, \
    'points.tsv' using 1:(only(0)) with points pt 7 ps 0.7 lc rgb line title legend[1], \
    'points.tsv' using 1:(only(1)) with points pt 11 ps 0.9 lc rgb accent title legend[2], \
    'points.tsv' using 1:(only(2)) with points pt 9 ps 0.9 lc rgb '#009e73' title legend[3]
unset key
unset label
unset logscale
set xtics autofreq
set ytics autofreq
