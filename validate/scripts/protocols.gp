# Real against predicted steps of the questions in a CSV file of protocols.py:
#   gnuplot -e "csv='answers.csv'; out='predicted.png'" validate/scripts/protocols.gp
set terminal pngcairo size 1800, 700 font "sans,10"
set output out
set datafile separator ","
set style fill solid 0.8 noborder
set logscale y
set ylabel "step, us"
set title "Steps of changed programs: measured without a profiler, and predicted from a recording (bar: 90% interval)"
set xtics rotate by 90 right font "sans,7"
set xrange [-1:*]
set key top left
set grid ytics
set boxwidth 0.4
plot csv using ($0 - 0.2):"real":xtic(sprintf("%s %s", stringcolumn("trace"), stringcolumn("change"))) with boxes lc rgb "#4c72b0" title "measured", \
     csv using ($0 + 0.2):"predicted" with boxes lc rgb "#dd8452" title "predicted", \
     csv using ($0 + 0.2):"predicted":"low":"high" with yerrorbars lc rgb "#333333" pt 0 notitle
