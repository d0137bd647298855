# What each value of each parameter makes of the time: lines by trace, the best marked.
set border 3
set xrange [0.3:places + 0.7]
set ylabel "change (%)" textcolor rgb ink offset 0.5,0
set xtics () rotate by -35 left
span = high > low ? high - low : 1
top = high + 0.13 * span
set yrange [low - 0.08 * span:high + 0.18 * span]
set key outside top center horizontal textcolor rgb ink
plot 0 with lines lc rgb faint lw 1 dashtype 2 notitle, \
    for [i = 0:traces - 1] 'points.tsv' index i using 1:2:xtic(3) with linespoints pt 7 ps 0.7 lw 1.5 title columnheader(1), \
    'boxes.tsv' using 1:2 with points pt 3 ps 1.6 lw 2 lc rgb ink title 'best', \
    'legend.tsv' using 1:(top):2 with labels textcolor rgb ink notitle
unset key
set yrange [*:*]
set xtics norotate autofreq
