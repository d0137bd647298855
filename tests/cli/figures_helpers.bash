# For tests of how near predictions come to what a GPU was recorded to do.

# Figures of a hundred traces and more are those of the program as released: under the sanitizers, where they would take half of
# the time of all tests, they are passed over; the same commands run there in other tests.
as_released()
{
    case ${GRIDTIDE_SANITIZERS-no} in
        no) ;;
        yes) skip "figures are those of the program as released" ;;
        *) echo "GRIDTIDE_SANITIZERS is yes or no, not '$GRIDTIDE_SANITIZERS'" && return 1 ;;
    esac
}
