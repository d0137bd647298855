# Operations by stream: one lane a stream and side; y counts pixels downwards.
set multiplot
set xrange [time_from:time_to]
set yrange [plot_height_px:0]
set border 1
unset ytics
set xtics nomirror textcolor rgb ink
set grid xtics noytics
set xlabel sprintf("time since the first operation (%s)", time_unit) textcolor rgb ink offset 0,0.2
pixel = 1.0 * (time_to - time_from) / plot_px

if (boxes) {
    plot 'tracks.tsv' using (0.5 * (time_from + time_to)):(($1 + $2) / 2):(time_from):(time_to):1:2 \
            with boxxyerror lc rgb '#f0f0f0', \
        'boxes.tsv' using (($1 + $2) / 2):(($3 + $4) / 2):1:2:3:4:5 with boxxyerror lc rgb variable
} else {
    plot 'raster.rgb' binary array=(plot_px, plot_height_px) format='%uchar%uchar%uchar' \
        dx=pixel dy=1 origin=(time_from + pixel / 2, 0.5) with rgbimage
}

# The lanes' names, at the left: x counts pixels.
set lmargin at screen 0
set rmargin at screen 1.0 * left_px / width
set xrange [0:left_px]
unset border; unset xtics; unset xlabel
set grid noxtics
plot 'lanes.tsv' using (left_px - 8):1:2 with labels right noenhanced textcolor rgb faint font ",11", \
    'lanes.tsv' using (left_px - 76):3:4 with labels right noenhanced textcolor rgb ink

# The legend, below: swatch and name, row by row.
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
