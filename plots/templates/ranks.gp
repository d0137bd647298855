# Ranks over time: an image, a lane a GPU, work above and collectives below; y counts pixels downwards.
set multiplot
set xrange [time_from:time_to]
set yrange [plot_height_px:0]
set border 3
set xtics nomirror textcolor rgb ink
set ytics nomirror scale 0 ()
unset grid
set xlabel sprintf("time since the first operation (%s)", time_unit) textcolor rgb ink offset 0,0.2
pixel = 1.0 * (time_to - time_from) / plot_px
if (marks > 0) {
    plot 'raster.rgb' binary array=(plot_px, plot_height_px) format='%uchar%uchar%uchar' \
            dx=pixel dy=1 origin=(time_from + pixel / 2, 0.5) with rgbimage, \
        'lanes.tsv' using (time_from):1:ytic(2) with points pt 0 notitle, \
        'points.tsv' using 1:2 with points pt 11 ps 1.1 lc rgb '#7a1f00' notitle
} else {
    plot 'raster.rgb' binary array=(plot_px, plot_height_px) format='%uchar%uchar%uchar' \
            dx=pixel dy=1 origin=(time_from + pixel / 2, 0.5) with rgbimage, \
        'lanes.tsv' using (time_from):1:ytic(2) with points pt 0 notitle
}

# The legend, below: swatch and name, row by row; the mark behind them.
unset border; unset xtics; unset ytics; unset xlabel
set lmargin at screen 30.0 / width
set rmargin at screen 1.0 - 10.0 / width
set tmargin at screen 1.0 * legend_px / height
set bmargin at screen 6.0 / height
set xrange [0:legend_columns]
set yrange [legend_rows - 0.5:-0.5]
set label 1 "came last; the others waited" at mark_column + 0.055, mark_row left textcolor rgb ink font ",12"
plot 'legend.tsv' using ($1 + 0.02):2:($1):($1 + 0.04):($2 - 0.28 * $3):($2 + 0.28 * $3):4 \
        with boxxyerror lc rgb variable, \
    'legend.tsv' using ($1 + 0.055):2:5 with labels left noenhanced textcolor rgb ink font ",12", \
    '+' using (mark_column + 0.02):(mark_row) with points pt 11 ps 1.1 lc rgb '#7a1f00'
unset label 1
unset multiplot

set lmargin at screen 1.0 * left_px / width
set rmargin at screen 1.0 - 1.0 * right_px / width
set tmargin at screen 1.0 - 1.0 * top_px / height
set bmargin at screen 1.0 * bottom_px / height
