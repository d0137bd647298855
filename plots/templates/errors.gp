# |simulated - measured| start: bars by range, and the share up to there.
set border 11
set logscale x
turn = error_from * (1.0 * error_to / error_from) ** 0.75 # labels beyond it are left of their line
set xrange [error_from:error_to]
set yrange [0:bar_top]
set y2range [0:100]
set xtics format '%g'
set ytics bar_top / 5.0 format '%g%%' nomirror
set y2tics 20 format '%g%%'
set xlabel sprintf("start error (%s)", error_unit) textcolor rgb ink offset 0,0.2
set ylabel "share of operations" textcolor rgb ink offset 0.5,0
set y2label "cumulative share" textcolor rgb line offset -0.8,0
set style fill solid noborder
do for [i = 1:2] {
    set arrow i from mark[i], graph 0 to mark[i], graph 1 nohead front lc rgb accent lw 1.3 dashtype 2
    if (mark[i] < turn) {
        set label i mark_text[i] at mark[i], graph 1 left offset -0.4,0.7 + 1.3 * (2 - i) \
            textcolor rgb accent font ",12"
    } else {
        set label i mark_text[i] at mark[i], graph 1 right offset 0.4,0.7 + 1.3 * (2 - i) \
            textcolor rgb accent font ",12"
    }
}
plot 'bars.tsv' using (sqrt($1 * $2)):($3 / 2):($1 * 1.02):($2 / 1.02):(0):3 \
        with boxxyerror lc rgb '#aad9f4', \
    'steps.tsv' using 1:2 axes x1y2 with lines lc rgb line lw 2
