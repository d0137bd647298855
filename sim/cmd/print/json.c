#include "sim/cmd/print/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/error.h"
#include "sim/base/text.h"
#include "traces/names/clean_text.h"

yajl_gen gt_json_new(void)
{
    yajl_gen json = yajl_gen_alloc(NULL);

    if (json == NULL)
        gt_no_memory("JSON");
    yajl_gen_config(json, yajl_gen_beautify, 1);
    yajl_gen_config(json, yajl_gen_indent_string, "  ");
    return json;
}

void gt_json_finish(yajl_gen json, FILE *out)
{
    const unsigned char *text;
    size_t bytes;

    yajl_gen_get_buf(json, &text, &bytes);
    gt_clean_json(out, (const char *)text, bytes);
    yajl_gen_free(json);
}

void gt_json_text(yajl_gen json, const char *text)
{
    char *clean;

    if (text == NULL) {
        yajl_gen_null(json);
        return;
    }
    clean = gt_utf8_clean(text);
    yajl_gen_string(json, (const unsigned char *)clean, strlen(clean));
    free(clean);
}

void gt_json_integer(yajl_gen json, int64_t value)
{
    yajl_gen_integer(json, value);
}

void gt_json_real(yajl_gen json, double value)
{
    char text[32];

    if (!isfinite(value)) {
        yajl_gen_null(json);
        return;
    }
    yajl_gen_number(json, text, (size_t)snprintf(text, sizeof text, "%.10g", value));
}
