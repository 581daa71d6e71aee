// How long a kernel takes on a card, for the book's labs: time CARD SIZE FILE.ptx prints a JSON object, with "ms" and
// "bound", or why there is no prediction.
#include <stdio.h>
#include <stdlib.h>

#include "base/card.h"
#include "base/json.h"
#include "tester/kernel_file.h"
#include "tester/predict.h"

static struct simt_prediction *predict(const struct card *card, int size, const char *ptx, char error[DEV_ERROR_MAX])
{
    const struct tester_options o = { .m = size, .n = size, .k = size, .alpha = 1 };
    struct step step = { .name = "lab", .type = DEV_F16, .ptx = ptx };
    if (!kernel_file_fits(ptx, DEV_F16, error))
        step.type = DEV_F32;
    return predict_step(&step, &o, card, error);
}

int main(int argc, char **argv)
{
    char error[DEV_ERROR_MAX];
    struct json j;
    const struct card *card = argc == 4 ? card_named(argv[1]) : NULL;
    if (!card) {
        fprintf(stderr, "time CARD SIZE FILE.ptx\n");
        return 2;
    }
    struct simt_prediction *p = predict(card, atoi(argv[2]), argv[3], error);
    json_open(&j, stdout);
    json_object(&j, NULL);
    json_string(&j, "card", card->name);
    json_int(&j, "size", atoi(argv[2]));
    if (p) {
        json_double(&j, "ms", simt_predicted_ms(p));
        json_string(&j, "bound", simt_predicted_bound(p));
    } else {
        json_string(&j, "error", error);
    }
    json_end(&j);
    simt_prediction_free(p);
    return json_close(&j) ? 0 : 1;
}
