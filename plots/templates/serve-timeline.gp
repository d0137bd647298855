# The first operations by tenant, kernels high and copies low; below, on how many SMs each tenant's blocks are.
set multiplot
unset xlabel
unset ylabel
set xrange [from:to]
set bmargin at screen 1.0 - 1.0 * (top_px + lanes_px) / height
set yrange [tenants - 0.5:-0.5]
set border 1
unset ytics
set xtics nomirror textcolor rgb ink
set format x ""
set grid xtics noytics
plot for [i = 0:tenants - 1] 'boxes.tsv' using (($1 + $2) / 2):($3 == i ? $3 : NaN):1:2:($3 - $4):($3 + $4) \
    with boxxyerror lt i + 1 lw 0.3 notitle
set format x "%g"
set lmargin at screen 0
set rmargin at screen 1.0 * left_px / width
set xrange [0:left_px]
unset border; unset xtics
set grid noxtics
plot 'lanes.tsv' using (left_px - 8):1:2 with labels right noenhanced textcolor rgb ink
set lmargin at screen 1.0 * left_px / width
set rmargin at screen 1.0 - 1.0 * right_px / width
set tmargin at screen 1.0 * (bottom_px + sms_px) / height
set bmargin at screen 1.0 * bottom_px / height
set xrange [from:to]
set yrange [0:sms]
set border 3; set xtics nomirror textcolor rgb ink; set ytics nomirror textcolor rgb ink
set grid xtics ytics
set xlabel "time (µs)" textcolor rgb ink
set ylabel "SMs with blocks" textcolor rgb ink offset 0.5,0
plot for [i = 0:tenants - 1] 'tracks.tsv' index i using 1:2 with filledcurves closed fs transparent solid 0.5 lt i + 1 notitle
unset multiplot
set tmargin at screen 1.0 - 1.0 * top_px / height
