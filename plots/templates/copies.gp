# Bandwidth by direction: a panel each; block 2n of the data is lane n's first side, 2n+1 its second.
set multiplot
part(rgb, shift) = (int(rgb) >> shift) & 255
pale(rgb, shift) = int(255 - 0.7 * (255 - part(rgb, shift))) << shift
paler(rgb) = pale(rgb, 16) + pale(rgb, 8) + pale(rgb, 0)
set border 1
set xrange [time_from:time_to]
do for [lane = 1:lanes] {
    top_at = top_px + (lane - 1) * (lane_px + gap_px)
    set tmargin at screen 1.0 - 1.0 * top_at / height
    set bmargin at screen 1.0 - 1.0 * (top_at + lane_px) / height
    top = lane_top[lane]
    set yrange [(sides > 1 ? -top : 0):top]
    set border 0
    unset xtics
    unset xlabel
    if (lane == lanes) {
        set border 1
        set xtics nomirror textcolor rgb ink
        set xlabel sprintf("time since the first operation (%s)", time_unit) textcolor rgb ink offset 0,0.2
    }
    set ytics (sprintf("%g", top) top, "0" 0)
    if (sides > 1) { set ytics add (sprintf("%g", top) -top) }
    set label 1 lane_name[lane] noenhanced textcolor rgb ink right \
        at screen 1.0 * (left_px - 62) / width, graph 0.5
    set label 2 (sides > 1 ? side_name[1] : " ") right textcolor rgb faint font ",11" \
        at screen 1.0 * (left_px - 40) / width, graph 0.78
    set label 3 (sides > 1 ? side_name[sides] : " ") right textcolor rgb faint font ",11" \
        at screen 1.0 * (left_px - 40) / width, graph 0.22
    set label 4 lane_unit[lane] at graph 0, graph 1 offset 0.2,0.6 left textcolor rgb faint font ",10"
    scale = lane_scale[lane]
    first = (lane - 1) * sides
    last = first + sides - 1
    down = sides > 1 ? -scale : 0
    plot 'steps.tsv' index first using 1:(scale * $2) with filledcurves y=0 lc rgb paler(lane_rgb[lane]), \
        'steps.tsv' index first using 1:(scale * $2) with lines lc rgb lane_rgb[lane] lw 0.8, \
        'steps.tsv' index last using 1:(down * $2) with filledcurves y=0 lc rgb paler(lane_rgb[lane]), \
        'steps.tsv' index last using 1:(down * $2) with lines lc rgb lane_rgb[lane] lw 0.8
}
unset multiplot
unset label
