# What all figures share. Run in a report's work folder: figure.gp is the figure's own template,
# parameters.gp has its numbers; names from traces are in data files only.
load 'parameters.gp'
set encoding utf8
set datafile separator "\t"
set datafile commentschars ""

ink = '#333333'; faint = '#8a8a8a'; line = '#0072b2'; fill = '#56b4e9'; accent = '#d55e00'
set border 3 lc rgb faint lw 1
set tics nomirror out scale 0.6 textcolor rgb ink
set grid xtics ytics front lt 1 lc rgb '#c8d0d0d0' lw 0.6
set style fill solid noborder
unset key
unset title

# Keep the axes where the parameters say, whatever the labels' widths.
set lmargin at screen 1.0 * left_px / width
set rmargin at screen 1.0 - 1.0 * right_px / width
set tmargin at screen 1.0 - 1.0 * top_px / height
set bmargin at screen 1.0 * bottom_px / height

set terminal svg size width,height font "sans-serif,13" noenhanced background "#ffffff" \
    standalone name "gridtide"
set output 'figure.svg'
load 'figure.gp'
set output
if (!png) { exit }

set terminal pngcairo size 2*width,2*height font "sans-serif,13" fontscale 1.55 linewidth 2 pointscale 2 \
    noenhanced background "#ffffff"
set output 'figure.png'
load 'figure.gp'
set output
