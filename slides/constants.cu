// A kernel whose PTX says some of its constants, so that a driver's --describe prints them. constants.txt lists which.
#include KERNEL

#define SAY(name) __constant__ int constant_##name = name;
NAMES
