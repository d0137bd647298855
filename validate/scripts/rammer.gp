# Workers over time, by itself: gnuplot -e "tasks = 'FILE.tsv'; picture = 'FILE.svg|png'; title_text = '...'; load 'kinds.gp'".
# A line of tasks: worker, start, duration (us), number of its kind; kinds.gp: kinds = N, kind1 = "...", ...
if (picture[strlen(picture) - 3:] eq ".png") {
    set terminal pngcairo size 2400,1200 font "sans-serif,13" fontscale 1.55 linewidth 2 noenhanced background "#ffffff"
} else {
    set terminal svg size 1200,600 font "sans-serif,13" noenhanced background "#ffffff" standalone name "gridtide"
}
set output picture
set datafile separator "\t"
set title title_text noenhanced
set xlabel "time since the first worker asked for a task (us)"
set ylabel "worker"
set border 3 lc rgb '#8a8a8a'
set tics nomirror out
set key outside below noenhanced
set style fill solid noborder
array colours[8] = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#56b4e9', '#e69f00', '#f0e442', '#333333']
colour(n) = colours[(n - 1) % 8 + 1]
set yrange [-0.5:*]
set xrange [0:*]
plot for [n = 1:kinds] tasks using ($4 == n ? $2 + $3 / 2 : NaN):1:($3 / 2):(0.5) with boxxyerror lc rgb colour(n) \
    title value(sprintf("kind%d", n))
