// Compares the clock with a GPU on a list of launches (launch_list.h).
//
//   clock_launches LIST PTX_FOLDER - [NAME]          runs them on the GPU: name,measured_us
//   clock_launches LIST PTX_FOLDER MEASURED [NAME]   predicts them for the H200, beside what the first form wrote
//
// With a NAME, only launches whose name begins so.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sort.h"
#include "launch_list.h"

#define MAX_ROWS 200

// Measures the launches from number `first` on, and stops after one that fails. *next: the number behind the last one.
static int measure_from(const struct launch_list *list, const char *folder, const char *prefix, size_t first,
                        size_t *next)
{
    char error[DEV_ERROR_MAX];
    struct launch_device *gpu = launch_device_open(DEV_GPU, error);
    int status = gpu ? 0 : 2;
    double us;
    *next = gpu ? first : list->n;
    if (!gpu)
        fprintf(stderr, "clock_launches: %s\n", error);
    while (!status && *next < list->n) {
        const struct launch_item *item = &list->all[(*next)++];
        if (strncmp(item->name, prefix, strlen(prefix)))
            continue;
        if (launch_measure(gpu, item, folder, &us, error)) {
            printf("%s,%.2f\n", item->name, us);
            fflush(stdout);
        } else {
            fprintf(stderr, "clock_launches: %s: %s\n", item->name, error);
            status = 1;
        }
    }
    launch_device_close(gpu);
    return status;
}

// After an error of a kernel a process has no GPU any more, so that the launches behind it take another one.
static int measure(const struct launch_list *list, const char *folder, const char *prefix)
{
    int status = 0;
    size_t *next = mmap(NULL, sizeof *next, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (next == MAP_FAILED)
        return 2;
    printf("name,measured_us\n");
    for (*next = 0; *next < list->n;) {
        const size_t first = *next;
        fflush(stdout);
        const pid_t child = fork();
        int result = 0;
        if (child == 0)
            exit(measure_from(list, folder, prefix, first, next));
        if (child < 0 || waitpid(child, &result, 0) < 0 || !WIFEXITED(result) || *next == first)
            return 2;
        status = WEXITSTATUS(result) > status ? WEXITSTATUS(result) : status;
    }
    munmap(next, sizeof *next);
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
        struct simt_prediction *p;
        const double us = measured_us(measured, item->name);
        if (strncmp(item->name, prefix, strlen(prefix)))
            continue;
        if (!(p = launch_predict(simulated, item, folder, card_named("H200"), error))) {
            fprintf(stderr, "clock_launches: %s: %s\n", item->name, error);
            status = 1;
            continue;
        }
        const double predicted = round(1e5 * p->ms) / 100;  // us, as it is printed
        const double percent = us > 0 ? 100 * (predicted / us - 1) : 0;
        printf("%s,%.2f,%.2f,%.1f\n", item->name, us, predicted, percent);
        fflush(stdout);
        fprintf(stderr, "%s: %s; unknown: %.0f branches, %.0f addresses of %.0f instructions\n", item->name, p->bound,
                (double)p->sm.unknown_branches, (double)p->sm.unknown_addresses, (double)p->sm.issued);
        if (us > 0 && n < MAX_ROWS)
            wrong[n++] = fabs(percent);
        simt_prediction_free(p);
    }
    launch_device_close(simulated);
    summary(wrong, n);
    return status;
}

int main(int argc, char **argv)
{
    struct launch_list list;
    char error[DEV_ERROR_MAX] = "usage: clock_launches LIST PTX_FOLDER -|MEASURED [NAME]";
    if (argc < 4 || argc > 5 || !launch_list_read(&list, argv[1], error)) {
        fprintf(stderr, "clock_launches: %s\n", error);
        return 2;
    }
    const char *prefix = argc > 4 ? argv[4] : "";
    const int status =
        strcmp(argv[3], "-") ? predict(&list, argv[2], argv[3], prefix) : measure(&list, argv[2], prefix);
    launch_list_free(&list);
    return status;
}
