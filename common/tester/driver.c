// The main() of every driver: a step's main.c says what the step is, and nothing else.
#include "tester.h"

extern const struct step step;

int main(int argc, char **argv)
{
    return tester_main(&step, argc, argv);
}
