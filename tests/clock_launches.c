// Compares the clock with a GPU on a list of launches (launch_list.h).
//
//   clock_launches LIST PTX_FOLDER               runs them on the GPU: name,measured_us
//   clock_launches LIST PTX_FOLDER MEASURED      predicts them for the H200, beside what the first form wrote; a name
//                                                behind it: only launches whose name begins so
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch_list.h"

#define MAX_ROWS 200

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int measure(const struct launch_list *list, const char *folder)
{
    char error[DEV_ERROR_MAX];
    struct launch_device *gpu = NULL;
    int status = 0;
    printf("name,measured_us\n");
    for (size_t i = 0; i < list->n; i++) {
        double us;
        if (!gpu && !(gpu = launch_device_open(DEV_GPU, error))) {
            fprintf(stderr, "clock_launches: %s\n", error);
            return 2;
        }
        if (launch_measure(gpu, &list->all[i], folder, &us, error)) {
            printf("%s,%.2f\n", list->all[i].name, us);
            fflush(stdout);
            continue;
        }
        fprintf(stderr, "clock_launches: %s: %s\n", list->all[i].name, error);
        launch_device_close(gpu);
        gpu = NULL;
        status = 1;
    }
    launch_device_close(gpu);
    return status;
}

// Microseconds of the line that begins with the name; 0 if there is none.
static double measured_us(const char *path, const char *name)
{
    char line[256];
    double us = 0;
    const size_t n = strlen(name);
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f))
        if (!strncmp(line, name, n) && line[n] == ',')
            us = atof(line + n + 1);
    if (f)
        fclose(f);
    return us;
}

static void summary(double *wrong, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += wrong[i];
    qsort(wrong, n, sizeof *wrong, by_value);
    if (n)
        fprintf(stderr, "%zu launches: mean %.1f %%, P90 %.1f %%, worst %.1f %%\n", n, sum / (double)n,
                wrong[(size_t)ceil(0.9 * (double)n) - 1], wrong[n - 1]);
}

static int predict(const struct launch_list *list, const char *folder, const char *measured, const char *prefix)
{
    char error[DEV_ERROR_MAX];
    double wrong[MAX_ROWS];
    size_t n = 0;
    int status = 0;
    struct launch_device *simulated = launch_device_open(DEV_SIM, error);
    if (!simulated) {
        fprintf(stderr, "clock_launches: %s\n", error);
        return 2;
    }
    printf("name,measured_us,predicted_us,error_percent\n");
    for (size_t i = 0; i < list->n; i++) {
        const struct launch_item *item = &list->all[i];
        struct clock_prediction p;
        const double us = measured_us(measured, item->name);
        if (strncmp(item->name, prefix, strlen(prefix)))
            continue;
        if (!launch_predict(simulated, item, folder, card_named("H200"), &p, error)) {
            fprintf(stderr, "clock_launches: %s: %s\n", item->name, error);
            status = 1;
            continue;
        }
        const double percent = us > 0 ? 100 * (1000 * p.ms / us - 1) : 0;
        printf("%s,%.2f,%.2f,%.1f\n", item->name, us, 1000 * p.ms, percent);
        fflush(stdout);
        fprintf(stderr, "%s: %s%s\n", item->name, p.bound,
                p.sm.unknown_branches ? "; some branches depend on data" : "");
        if (us > 0 && n < MAX_ROWS)
            wrong[n++] = fabs(percent);
        clock_free(&p);
    }
    launch_device_close(simulated);
    summary(wrong, n);
    return status;
}

int main(int argc, char **argv)
{
    struct launch_list list;
    char error[DEV_ERROR_MAX] = "usage: clock_launches LIST PTX_FOLDER [MEASURED [NAME]]";
    if (argc < 3 || argc > 5 || !launch_list_read(&list, argv[1], error)) {
        fprintf(stderr, "clock_launches: %s\n", error);
        return 2;
    }
    const int status = argc == 3 ? measure(&list, argv[2]) : predict(&list, argv[2], argv[3], argc > 4 ? argv[4] : "");
    launch_list_free(&list);
    return status;
}
