/* utf8.h - text that must be UTF-8 on its way out: JSON, protocol buffers. */
#ifndef GRIDTIDE_TRACES_IO_UTF8_H
#define GRIDTIDE_TRACES_IO_UTF8_H

/* A malloced copy of `text` in which each byte that is not UTF-8 became U+FFFD. */
char *gt_utf8_clean(const char *text);

#endif
