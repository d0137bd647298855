# Makespan errors, a row a family; near 0 the axis is linear.
set border 1
set nonlinear x via asinh(x) inverse sinh(x)
set xrange [-largest:largest]
set yrange [families + 0.7:0.3]
set xtics ("−50%%" -50, "−20%%" -20, "−10%%" -10, "−5%%" -5, "−2%%" -2, "−1%%" -1, "0" 0, "+1%%" 1, \
    "+2%%" 2, "+5%%" 5, "+10%%" 10, "+20%%" 20, "+50%%" 50)
set xlabel "makespan error" textcolor rgb ink offset 0,0.2
set object 1 rectangle from -1, graph 0 to 1, graph 1 behind fillcolor rgb '#e8f2fa' fillstyle solid noborder
set arrow 1 from 0, graph 0 to 0, graph 1 nohead lc rgb faint lw 1
plot 'errors.tsv' using 1:2:ytic(3) with points pt 7 ps 0.7 lc rgb line
unset object
unset arrow
unset nonlinear x
