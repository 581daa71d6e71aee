// A lab's run on this machine, for the test that compares it with the page: native FILE.ptx TYPE M N K ALPHA BETA
// prints what lab_run says, and then the map of C, a digit for each element; native FILE.ptx KERNEL NUMBER prints what
// lab_launch says.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab.h"

int main(int argc, char **argv)
{
    if (argc == 4)
        return fputs(lab_launch(argv[1], argv[2], atoi(argv[3])), stdout) == EOF || putchar('\n') == EOF;
    if (argc != 8) {
        fprintf(stderr, "native FILE.ptx TYPE M N K ALPHA BETA, or FILE.ptx KERNEL NUMBER\n");
        return 2;
    }
    const int m = atoi(argv[3]), n = atoi(argv[4]), k = atoi(argv[5]);
    const char *text = lab_run(argv[1], atoi(argv[2]), m, n, k, atof(argv[6]), atof(argv[7]));
    const unsigned char *map = lab_map();
    if (!text)
        return 1;
    fputs(text, stdout);
    for (int i = 0; map && i < m * n; i++)
        putchar('0' + map[i]);
    return putchar('\n') == EOF;
}
