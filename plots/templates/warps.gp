# Resident warps of the whole device, as a share; the mean dashed.
set border 3
set xrange [time_from:time_to]
set yrange [0:top]
set ytics top / 4.0 format '%g%%'
set xlabel sprintf("time since the first operation (%s)", time_unit) textcolor rgb ink offset 0,0.2
set arrow 1 from run_from, mean to run_to, mean nohead front lc rgb accent lw 1.4 dashtype 2
plot 'steps.tsv' using 1:2 with filledcurves y=0 lc rgb '#aad9f4', \
    'steps.tsv' using 1:2 with lines lc rgb line lw 1.2
