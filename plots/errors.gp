# |simulated - measured| start: bars by range, and the share up to there.
set border 11
set logscale x
turn = error_from * (error_to / error_from) ** 0.8 # labels beyond it are left of their line
set xrange [error_from:error_to]
set yrange [0:bar_top]
set y2range [0:100]
set xtics format '%g'
set ytics bar_top / 5 format '%g%%' nomirror
set y2tics 20 format '%g%%'
set xlabel sprintf("start error (%s)", error_unit) textcolor rgb ink offset 0,0.3
set ylabel "operations in the range" textcolor rgb ink offset 0.5,0
set y2label "operations up to there" textcolor rgb line offset -0.8,0
set style fill solid noborder
plot 'bars.tsv' using (sqrt($1 * $2)):($3 / 2):($1 * 1.015):($2 / 1.015):(0):3 with boxxyerror lc rgb '#aad9f4', \
    'steps.tsv' using 1:2 axes x1y2 with lines lc rgb line lw 2, \
    'marks.tsv' using 1:(0):(0):(bar_top) with vectors nohead lc rgb accent lw 1.2 dashtype 2, \
    for [row = 0:1] 'marks.tsv' using ($1 < turn ? $1 : NaN):(bar_top):2 every ::row::row \
        with labels left offset -0.4,0.8 + 1.3 * (1 - row) noenhanced textcolor rgb accent font ",11", \
    for [row = 0:1] 'marks.tsv' using ($1 < turn ? NaN : $1):(bar_top):2 every ::row::row \
        with labels right offset 0.4,0.8 + 1.3 * (1 - row) noenhanced textcolor rgb accent font ",11"
