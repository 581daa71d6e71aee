// A failure is one line of text for people, in a buffer of DEV_ERROR_MAX bytes that the caller has.
#ifndef COMMON_ERROR_H
#define COMMON_ERROR_H

#define DEV_ERROR_MAX 1024  // bytes, the terminating NUL included

#endif
