# Blocks by SM: measured upwards, simulated downwards.
set border 3
set xrange [-0.8:sms - 0.2]
set yrange [-most:most]
set xtics 16
set ytics (sprintf("%g", most) most, "0" 0, sprintf("%g", most) -most)
set xlabel "SM" textcolor rgb ink offset 0,0.2
set label 1 side_name[1] at graph 0.01, graph 0.96 textcolor rgb ink
set label 2 side_name[2] at graph 0.01, graph 0.04 textcolor rgb ink
set ylabel "blocks" textcolor rgb ink offset 0.5,0
plot 'bars.tsv' using 1:($2 / 2):(0.4):($2 / 2) with boxxyerror lc rgb line, \
    'bars.tsv' using 1:(-$3 / 2):(0.4):($3 / 2) with boxxyerror lc rgb fill
unset label
