// Prints the kernel of a variant: variant VARIANTS NAME KERNEL. See variants.txt.
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "tools/variants.h"

static int fail(const char *what)
{
    fprintf(stderr, "variant: %s\n", what);
    return EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    struct variants all;
    char error[DEV_ERROR_MAX];
    if (argc != 4)
        return fail("variant VARIANTS NAME KERNEL");
    if (!variants_read(&all, argv[1], error))
        return fail(error);
    const struct variant *one = variants_find(&all, argv[2]);
    char *kernel = file_read(argv[3]), *text = NULL;
    snprintf(error, sizeof error, !one ? "there is no variant %s" : "%s cannot be read", argv[one ? 3 : 2]);
    if (one && kernel)
        text = variants_apply(&all, one, kernel, error);
    const int status = text ? fputs(text, stdout) < 0 : fail(error);
    free(text);
    free(kernel);
    variants_free(&all);
    return status;
}
