// The rooms of a source tree, and files that need others against their order.
//
// A folder whose meson.build has a line "foreach room : [...]" has rooms: its folders of these names, in this order. A
// file may need files of its own room and of those before it: by what it includes, and by the symbols that its object
// uses. Files of one name, x.h and x.c, are a unit, and no unit may need itself through others.
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { ROOMS_SAID = 4096 };

struct rooms_result {
    size_t files, includes, symbols;  // that were looked at
    size_t wrong;
    char said[ROOMS_SAID];  // a line for each thing that is wrong
};

// Each looks at files below the folder root, and returns false where they cannot be read.

// What .c, .h and .def files include; root is also where includes of other rooms begin.
bool rooms_check(const char *root, struct rooms_result *r);

// Which symbols the objects of these files use that others define: those that the build in the folder build has made.
bool rooms_check_symbols(const char *root, const char *build, struct rooms_result *r);

// Whether all of the project includes nothing of the room ("common/simt") but its door ("simt.h"). Only its own files
// and the tests of its rooms (tests/clock of common/simt/clock) may know more of it.
bool rooms_check_door(const char *sources, const char *room, const char *door, struct rooms_result *r);
