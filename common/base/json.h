// Writes JSON, one value after another; commas, quotes and escapes are taken care of.
//
//   json_open(&j, file); json_object(&j, NULL); json_string(&j, "name", "x"); json_end(&j); ok = json_close(&j);
//
// In an object every value has a key; in an array, and at the top, key is NULL. Strings are UTF-8; bytes that are not
// become U+FFFD.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define JSON_DEPTH 16

struct json {
    FILE *out;
    int depth;
    char close[JSON_DEPTH];  // '}' or ']' for each open container
    bool first[JSON_DEPTH];  // nothing written in it yet
    bool misused;            // nested too deep, or more ends than beginnings
};

// Begins a text; an object; an array. json_end ends the latter two.
void json_open(struct json *j, FILE *out);
void json_object(struct json *j, const char *key);
void json_array(struct json *j, const char *key);
void json_end(struct json *j);  // closes the innermost object or array
void json_string(struct json *j, const char *key, const char *value);
void json_uint(struct json *j, const char *key, uint64_t value);
void json_int(struct json *j, const char *key, int64_t value);
void json_double(struct json *j, const char *key, double value);  // null if value is not finite
void json_bool(struct json *j, const char *key, bool value);
bool json_close(struct json *j);  // ends the text with a newline, flushes; false, and errno set, if any write failed
                                  // or the calls did not pair up (EINVAL)
