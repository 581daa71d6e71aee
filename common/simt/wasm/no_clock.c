// A page has no ptxas, so the clock cannot predict there: what simt/simt.h says of time on a card, for WebAssembly.
#include "simt/simt.h"

static const char missing[] = "ptxas was not found: it comes with nvcc";

bool simt_can_predict(char error[DEV_ERROR_MAX])
{
    return error_set(error, "%s", missing);
}

struct simt_prediction *simt_predict(const struct simt_timing *t, const struct card *card, char error[DEV_ERROR_MAX])
{
    (void)t, (void)card;
    error_set(error, "%s", missing);
    return NULL;
}

bool simt_count(const struct simt_timing *t, const struct card *card, struct simt_counts *out,
                char error[DEV_ERROR_MAX])
{
    (void)t, (void)card, (void)out;
    return error_set(error, "%s", missing);
}

char *simt_draw_cycles(const struct simt_timing *t, const struct card *card, const struct simt_cycles *what,
                       char error[DEV_ERROR_MAX])
{
    (void)t, (void)card, (void)what;
    error_set(error, "%s", missing);
    return NULL;
}

// Of a prediction, which there never is.

void simt_prediction_free(struct simt_prediction *p)
{
    (void)p;
}

void simt_prediction_after(struct simt_prediction *p, const struct simt_prediction *first)
{
    (void)p, (void)first;
}

double simt_predicted_cycles(const struct simt_prediction *p)
{
    (void)p;
    return 0;
}

double simt_predicted_ms(const struct simt_prediction *p)
{
    (void)p;
    return 0;
}

const char *simt_predicted_bound(const struct simt_prediction *p)
{
    (void)p;
    return "";
}

void simt_prediction_print(FILE *out, const struct simt_prediction *p, bool by_line)
{
    (void)out, (void)p, (void)by_line;
}

void simt_prediction_json(struct json *j, const struct simt_prediction *p)
{
    (void)j, (void)p;
}
