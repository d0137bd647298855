# Where warps are, a lane a kernel: simulated above, the profiler's samples below.
set border 1
set xrange [0:100]
set yrange [lanes + 0.6:0.4]
set xtics 10 format '%g%%'
set xlabel axis_label textcolor rgb ink offset 0,0.2
set ytics scale 0
set key above left horizontal reverse Left samplen 1.2 width 1 textcolor rgb ink
plot 'bars.tsv' using (0.5 * ($1 + $2)):(0.5 * ($3 + $4)):1:2:3:4:5 with boxxyerror lc rgb variable notitle, \
    'lanes.tsv' using (-1):1:ytic(2) with points pt 7 ps 0.1 lc rgb faint notitle, \
    for [i = 1:groups] NaN with boxes lc rgb group_rgb[i] title group_name[i]
unset key
