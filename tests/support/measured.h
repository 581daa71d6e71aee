// What a benchmark of the clock measured on a GPU.
#pragma once

// The value of the table's row of that name: "name,quantity,value". Fails the test if there is none.
double measured_value(const char *csv, const char *name);
