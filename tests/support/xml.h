// Whether a picture is well-formed XML that a browser draws without fetching anything.
#pragma once

#include <stddef.h>

void check_xml(const char *svg);                   // fails the test where it is not
size_t count(const char *text, const char *what);  // occurrences, not overlapping
