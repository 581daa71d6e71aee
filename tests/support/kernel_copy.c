// See kernel_copy.h.
#include "kernel_copy.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[] = "/tmp/kernel_XXXXXX";
char copy_cu[64], copy_ptx[64], copy_course[64];

void copy_folder_make(void)
{
    cr_assert(mkdtemp(folder), "%s", folder);
    snprintf(copy_cu, sizeof copy_cu, "%s/kernel.cu", folder);
    snprintf(copy_course, sizeof copy_course, "%s/course.cu", folder);
    snprintf(copy_ptx, sizeof copy_ptx, "%s/kernel.ptx", folder);
}

void copy_folder_remove(void)
{
    unlink(copy_cu);
    unlink(copy_course);
    unlink(copy_ptx);
    rmdir(folder);
}
