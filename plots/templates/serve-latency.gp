# How many of a tenant's requests take at most so long.
set xlabel "latency (µs)" textcolor rgb ink
set ylabel "requests (%)" textcolor rgb ink offset 0.5,0
set logscale x
set yrange [0:101]
set key outside top center horizontal textcolor rgb ink
plot for [i = 0:tenants - 1] 'points.tsv' index i using 1:2 with lines lw 2 lc i + 1 title columnheader(1)
unset key
unset logscale x
