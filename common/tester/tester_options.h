// The command line that the drivers, the ladder and tune share.
#pragma once

#include "base/options.h"
#include "step.h"

enum options_for { OPTIONS_FOR_DRIVER = 1, OPTIONS_FOR_LADDER = 2, OPTIONS_FOR_TUNE = 4 };

// The options that fill a struct tester_options, which holds tester_defaults before. Tune changes what is said of the
// operands.
struct options tester_options_for(enum options_for use, const char *program);
