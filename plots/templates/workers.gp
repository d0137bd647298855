# Workers over time: an image, a row a worker; y counts pixels downwards.
set multiplot
set xrange [time_from:time_to]
set yrange [plot_height_px:0]
set border 3
set xtics nomirror textcolor rgb ink
set ytics nomirror scale 0.6 ()
step = workers <= 8 ? 1 : 10 ** floor(log10(workers / 4.0))
step = workers / step > 20 ? 5 * step : workers / step > 8 ? 2 * step : step
do for [worker = 0:workers - 1:int(step)] {
    set ytics add (sprintf("%d", worker) (worker + 0.5) * plot_height_px / workers)
}
unset grid
set xlabel sprintf("time since the first operation (%s)", time_unit) textcolor rgb ink offset 0,0.2
set ylabel "worker" textcolor rgb ink offset 0.5,0
pixel = 1.0 * (time_to - time_from) / plot_px
plot 'raster.rgb' binary array=(plot_px, plot_height_px) format='%uchar%uchar%uchar' \
    dx=pixel dy=1 origin=(time_from + pixel / 2, 0.5) with rgbimage

# The legend, below: swatch and name, row by row.
unset border; unset xtics; unset ytics; unset xlabel; unset ylabel
set lmargin at screen 30.0 / width
set rmargin at screen 1.0 - 10.0 / width
set tmargin at screen 1.0 * legend_px / height
set bmargin at screen 6.0 / height
set xrange [0:legend_columns]
set yrange [legend_rows - 0.5:-0.5]
plot 'legend.tsv' using ($1 + 0.02):2:($1):($1 + 0.04):($2 - 0.28 * $3):($2 + 0.28 * $3):4 \
        with boxxyerror lc rgb variable, \
    'legend.tsv' using ($1 + 0.055):2:5 with labels left noenhanced textcolor rgb ink font ",12"
unset multiplot

set lmargin at screen 1.0 * left_px / width
set rmargin at screen 1.0 - 1.0 * right_px / width
set tmargin at screen 1.0 - 1.0 * top_px / height
set bmargin at screen 1.0 * bottom_px / height
