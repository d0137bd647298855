# Residency of each SM over time: an image, its scale at the right.
set border 0
set xrange [time_from:time_to]
set yrange [-0.5:sms * gpus - 0.5]
set cbrange [0:top]
set palette defined (0 '#ffffff', 0.01 '#e4f1fa', 0.25 '#9fd0ee', 0.5 '#56b4e9', 0.75 '#0072b2', 1 '#00304d')
set colorbox user origin screen 1.0 - 74.0 / width, screen 1.0 * bottom_px / height \
    size screen 14.0 / width, screen 1.0 * (height - top_px - bottom_px) / height noborder
set cbtics top / 4.0 format '%g%%' scale 0 offset -0.6,0
set xlabel sprintf("time since the first operation (%s)", time_unit) textcolor rgb ink offset 0,0.2
unset grid
if (gpus == 1) {
    set ylabel "SM" textcolor rgb ink offset 0.5,0
} else {
    unset ylabel
    set ytics scale 0 ()
    do for [gpu = 1:gpus:int(ceil(gpus / 32.0))] {
        set ytics add (sprintf("GPU %d", gpu_id[gpu]) (gpu - 0.5) * sms - 0.5)
        set arrow gpu from graph 0, first gpu * sms - 0.5 to graph 1, first gpu * sms - 0.5 \
            nohead front lc rgb faint lw 0.6
    }
}
plot 'heat.f32' binary array=(columns * across, lines) format='%float' \
    dx=(1.0 * column_step / across) dy=sms_a_line \
    origin=(column_from + 0.5 * column_step / across, -0.5 + 0.5 * sms_a_line) using 1 with image
