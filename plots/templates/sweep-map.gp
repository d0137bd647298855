# What two parameters make of the time: a cell a pair of values, the best framed.
set border 0
set xrange [-0.5:across - 0.5]
set yrange [-0.5:up - 0.5]
set palette defined (-1 '#56b4e9', 0 '#ffffff', 1 '#e69f00')
set cbrange [-widest:widest]
unset colorbox
unset grid
set xtics () scale 0
set ytics () scale 0
set object 1 rectangle from best_across - 0.48, best_up - 0.46 to best_across + 0.48, best_up + 0.46 front \
    fillstyle empty border rgb ink lw 2.5
plot 'points.tsv' using 1:2:(0.5):(0.5):3:xtic(4):ytic(5) with boxxyerror fillcolor palette fillstyle solid noborder, \
    '' using 1:2:(sprintf('%+.1f', column(3))) with labels textcolor rgb ink
unset object
unset yrange
