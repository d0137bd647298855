/* writer.h - a process's file of records: appended to by many threads without locks, whole however the process ends.
 *
 * Each thread fills a chunk of its own that is mapped into memory, so that what is written is the kernel's at once.
 * Nothing here ends the program that is recorded: what finds no room is counted.
 */
#ifndef GRIDTIDE_VALIDATE_RECORD_WRITER_H
#define GRIDTIDE_VALIDATE_RECORD_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "traces/recorded/records.h"

/* Make the file in `folder`, of at most `most_bytes`.  Returns 0, or an errno. */
int gt_writer_open(const char *folder, uint64_t most_bytes);
bool gt_writer_is_open(void);
/* A child of fork() has its parent's chunks: it must not write. */
void gt_writer_forget(void);

/* Room for a record of `bytes` with its head, zeroed but for the kind; NULL: there is none.  Calls may not nest. */
void *gt_writer_begin(enum gt_recorded_kind kind, size_t bytes);
/* The record is whole. */
void gt_writer_end(void *record);

/* The number of a text, which is written when it is met first; 0 for NULL. */
uint32_t gt_writer_name(const char *text);
/* A record that is a text behind a head and `length`. */
void gt_writer_problem(const char *format, ...) __attribute__((format(printf, 1, 2)));

uint64_t gt_writer_now_ns(void);
uint64_t gt_writer_thread(void); /* the calling thread's number */
/* The program's own name of a thread. */
void gt_writer_name_thread(uint64_t thread, const char *text);

#endif
