# Operations a second over operations per byte: a kernel a dot, its area its share of the time.
set border 3
set logscale xy
set xrange [x_from:x_to]
set yrange [y_from:y_to]
set samples 800
set xtics format '%g'
set ytics ("1 GFLOP/s" 1e9, "10 GFLOP/s" 1e10, "100 GFLOP/s" 1e11, "1 TFLOP/s" 1e12, "10 TFLOP/s" 1e13, \
    "100 TFLOP/s" 1e14, "1 PFLOP/s" 1e15, "10 PFLOP/s" 1e16)
set xlabel "operations per byte of DRAM traffic" textcolor rgb ink offset 0,0.2
set key right bottom Left reverse samplen 1 textcolor rgb ink
array colour[5] = ["#400072b2", "#40d55e00", "#40009e73", "#40e69f00", "#408a8a8a"]
roof(x, top) = x * dram_peak < top ? x * dram_peak : top
only(which) = column(4) == which ? column(2) : NaN
left_half(x) = x < sqrt(x_from * x_to)
do for [i = 1:3] {
    if (peak[i] > 0) {
        set label 10+i peak_name[i] at x_to, peak[i] right offset -0.5,0.6 font ",10" textcolor rgb faint
    }
}
# Along the slope: so many pixels a power of ten, up and across.
up = (height - top_px - bottom_px) / log10(y_to / y_from)
across = (width - left_px - right_px) / log10(x_to / x_from)
ridge = sqrt(x_from * peak[1] / dram_peak)
set label 20 "DRAM" at ridge, ridge * dram_peak center offset 0,0.9 rotate by atan2(up, across) * 180 / pi \
    font ",10" textcolor rgb faint
plot for [i = 1:3] roof(x, peak[i] > 0 ? peak[i] : NaN) with lines lc rgb faint lw 1.5 notitle, \
    for [i = 1:colours] 'points.tsv' using 1:(only(i - 1)):3 with points pt 7 ps variable lc rgb colour[i] notitle, \
    for [i = 1:colours] (family[i] eq "" ? NaN : -1) with points pt 7 ps 1 lc rgb colour[i] title family[i], \
    'points.tsv' using (left_half(column(1)) ? column(1) : NaN):2:5 with labels left offset 1.6,0 font ",10" \
        textcolor rgb ink notitle, \
    'points.tsv' using (left_half(column(1)) ? NaN : column(1)):2:5 with labels right offset 1.2,-1.2 font ",10" \
        textcolor rgb ink notitle
unset key
unset label
unset logscale
set xtics autofreq
set ytics autofreq
