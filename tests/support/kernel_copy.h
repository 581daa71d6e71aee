// A folder of its own for a copy of a kernel, and the PTX that is made of it.
#pragma once

extern char copy_cu[64], copy_ptx[64];  // the paths, once the folder is there
extern char copy_course[64];            // that of the kernel as it was

void copy_folder_make(void);
void copy_folder_remove(void);  // with the files
