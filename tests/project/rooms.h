// The rooms of a source tree, and includes that go against them.
//
// A folder whose meson.build has a line "foreach room : [...]" has rooms: its folders of these names, in this order. A
// file may include files of its own room and of those before it. Files of one name, x.h and x.c, are a unit, and no
// unit may include itself through others.
#ifndef TESTS_ROOMS_H
#define TESTS_ROOMS_H

#include <stdbool.h>
#include <stddef.h>

enum { ROOMS_SAID = 4096 };

struct rooms_result {
    size_t files, includes;  // that were looked at
    size_t wrong;
    char said[ROOMS_SAID];  // a line for each wrong include, cycle or room without a line about it
};

// Looks at all .c, .h and .def files below the folder root, which is also where includes of other rooms begin. False
// where it cannot be read.
bool rooms_check(const char *root, struct rooms_result *r);

#endif
