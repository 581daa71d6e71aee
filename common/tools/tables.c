// See tables.h. base/table.c reads the rows; here they become numbers and texts that are checked.
#include "tables.h"

#include <float.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#include "base/table.h"

// --- Fields ---

static bool text(const struct table *t, int field, char *to, size_t size)
{
    if ((size_t)snprintf(to, size, "%s", t->field[field]) >= size)
        return table_refuse(t, "\"%.40s...\": the text is too long", t->field[field]);
    return true;
}
#define TEXT(t, field, to) text(t, field, to, sizeof to)

static bool whole(const struct table *t, int field, int min, int *to)
{
    uint64_t value;
    if (!options_whole(t->field[field], (uint64_t)min, INT_MAX, &value))
        return table_refuse(t, "\"%.40s\": must be a whole number", t->field[field]);
    *to = (int)value;
    return true;
}

// Above 0; an empty field is allowed where it may lack, and gives 0.
static bool number(const struct table *t, int field, bool may_lack, double *to)
{
    *to = 0;
    if (may_lack && !*t->field[field])
        return true;
    return options_real(t->field[field], DBL_MIN, DBL_MAX, to) ||
           table_refuse(t, "\"%.40s\": must be a number above 0", t->field[field]);
}

static bool element_type(const struct table *t, int field, char to[8])
{
    static const char *const types[] = { "f16", "f32", "f64" };
    for (int i = 0; i < 3; i++)
        if (!strcmp(t->field[field], types[i]))
            return TEXT(t, field, *(char(*)[8])to);
    return table_refuse(t, "\"%.40s\": the types are f16, f32 and f64", t->field[field]);
}

// --- The tables ---

static bool read_result(const struct table *t, void *item)
{
    struct result *r = item;
    const char *sms;
    if (!TEXT(t, 0, r->date) || !TEXT(t, 1, r->device) || !TEXT(t, 2, r->detail) || !TEXT(t, 3, r->baseline) ||
        !TEXT(t, 4, r->l2) || !whole(t, 5, 1, &r->runs) || !whole(t, 6, 1, &r->m) || !whole(t, 7, 1, &r->n) ||
        !whole(t, 8, 1, &r->k) || !TEXT(t, 9, r->step) || !element_type(t, 10, r->type) ||
        !number(t, 11, false, &r->ms) || !number(t, 12, false, &r->ms_min) || !number(t, 13, false, &r->ms_max) ||
        !number(t, 14, false, &r->tflops) || !number(t, 15, true, &r->baseline_tflops) ||
        !number(t, 16, true, &r->after))
        return false;
    sms = strchr(r->detail, ',');  // "sm_90, 132 SMs up to 1980 MHz, driver ..."
    if (!sms || sscanf(sms + 1, " %4u SMs up to %6u MHz", &r->sms, &r->mhz) != 2 || !r->sms || !r->mhz)
        return table_refuse(t, "\"%.80s\": does not say how many SMs there are, up to how many MHz", r->detail);
    return true;
}

static bool read_counter(const struct table *t, void *item)
{
    struct counter *c = item;
    int value = 0;
    bool ok = TEXT(t, 0, c->step) && TEXT(t, 1, c->name) && whole(t, 2, 0, &value);
    c->value = value;
    return ok;
}

static bool read_stall(const struct table *t, void *item)
{
    struct counter *c = item;
    return TEXT(t, 0, c->step) && TEXT(t, 1, c->name) &&
           (options_real(t->field[2], 0, DBL_MAX, &c->value) ||
            table_refuse(t, "\"%.40s\": must be a number, at least 0", t->field[2]));
}

static bool read_trial(const struct table *t, void *item)
{
    struct trial *r = item;
    if (!TEXT(t, 0, r->id) || !TEXT(t, 1, r->device) || !TEXT(t, 2, r->step) || !element_type(t, 3, r->type) ||
        (*t->field[4] && !whole(t, 4, 1, &r->size)) || !number(t, 5, false, &r->low) || !number(t, 6, true, &r->high) ||
        !TEXT(t, 7, r->variant))
        return false;
    if (r->high == 0)
        r->high = r->low;
    return r->high >= r->low || table_refuse(t, "\"%.40s\": lies below the figure before it", t->field[6]);
}

static bool open_expected(struct table *t, const char *path, const char *header, char *error)
{
    return table_open(t, path, error) &&
           (!strcmp(t->header, header) ||
            table_refuse(t, "not the table that was expected; its header would be \"%s\"", header));
}

static bool read_all(const char *path, const char *header, size_t item, bool (*read)(const struct table *, void *),
                     void **list, size_t *n, char *error)
{
    struct table t;
    bool more = true, ok = open_expected(&t, path, header, error);
    size_t room = 0;
    char *items = NULL;
    *n = 0;
    while (ok && (ok = table_next(&t, &more)) && more) {
        if (*n == room) {
            room = room ? 2 * room : 64;
            char *larger = realloc(items, room * item);
            if (!larger) {
                ok = error_set(error, "%.300s: out of memory", path);
                break;
            }
            items = larger;
        }
        memset(items + *n * item, 0, item);
        ok = read(&t, items + (*n)++ * item);
    }
    table_close(&t);
    if (!ok) {
        free(items);
        items = NULL;
        *n = 0;
    }
    *list = items;
    return ok;
}

bool results_read(const char *path, struct result **list, size_t *n, char error[DEV_ERROR_MAX])
{
    void *items;
    bool ok = read_all(path,
                       "date,device,detail,baseline,l2,runs,m,n,k,step,type,ms,ms_min,ms_max,tflops,baseline_tflops,"
                       "baseline_after_tflops",
                       sizeof **list, read_result, &items, n, error);
    *list = items;
    return ok;
}

bool counters_read(const char *path, struct counter **list, size_t *n, char error[DEV_ERROR_MAX])
{
    void *items;
    bool ok = read_all(path, "step,counter,h200", sizeof **list, read_counter, &items, n, error);
    *list = items;
    return ok;
}

bool stalls_read(const char *path, struct counter **list, size_t *n, char error[DEV_ERROR_MAX])
{
    void *items;
    bool ok = read_all(path, "step,counter,value", sizeof **list, read_stall, &items, n, error);
    *list = items;
    return ok;
}

bool trials_read(const char *path, struct trial **list, size_t *n, char error[DEV_ERROR_MAX])
{
    void *items;
    bool ok = read_all(path, "id,device,step,type,size,tflops,tflops_max,variant", sizeof **list, read_trial, &items, n,
                       error);
    *list = items;
    return ok;
}
