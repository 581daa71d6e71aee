#ifndef SIMT_FINDINGS_H
#define SIMT_FINDINGS_H
#include "base/findings.h"
#define simt_findings findings
struct simt_product;
#endif
