#include "sim/machine/failure.h"

#include <stdarg.h>
#include <stdio.h>

void gt_machine_fail(struct gt_machine *m, const char *format, ...)
{
    va_list arguments;

    if (m->failed)
        return;
    m->failed = true;
    if (m->error == NULL)
        return;
    va_start(arguments, format);
    vsnprintf(m->error->text, sizeof m->error->text, format, arguments);
    va_end(arguments);
}

void gt_machine_place(const struct gt_machine *m, uint32_t line, char *text, size_t bytes)
{
    const struct gt_workload *w = m->workload;
    const char *file = w->path != NULL ? w->path : w->name != NULL ? w->name : "trace";

    if (line == 0)
        snprintf(text, bytes, "%s", file);
    else
        snprintf(text, bytes, "%s:%u", file, line);
}
