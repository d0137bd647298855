/* control_guess.h - control fields of instructions of which only the text is known.
 *
 * Traces of instructions (NVBit, Accel-Sim) have no encodings.  The fields are set as a compiler must set them so that
 * each instruction waits for its operands and no longer: results of pipes with a fixed latency by stall cycles,
 * results of all others, and registers that are read late, by the six barriers.
 */
#ifndef GRIDTIDE_TRACES_SASS_CONTROL_GUESS_H
#define GRIDTIDE_TRACES_SASS_CONTROL_GUESS_H

#include "traces/sass/program_make.h"

/* Set `control` of all `count` rows, in the order of the code, by their texts. */
void gt_control_guess(struct gt_program_row *rows, uint32_t count);

#endif
