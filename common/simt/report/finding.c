// The kinds of findings and their classes. See findings.h.
#include "simt/findings.h"

static const struct {
    enum simt_check check;
    const char *name;
} classes[] = {
#define CLASS(class, check, name) [SIMT_CLASS_##class] = { check, name },
    SIMT_FINDING_CLASSES(CLASS)
};

static const struct {
    enum simt_finding_class class;
    bool advice;
    const char *id;
} kinds[] = {
#define KIND(kind, class, advice) [SIMT_##kind] = { SIMT_CLASS_##class, advice, #kind },
    SIMT_FINDING_KINDS(KIND)
};

enum simt_finding_class simt_finding_class(enum simt_finding_kind kind)
{
    return kinds[kind].class;
}

enum simt_check simt_finding_check(enum simt_finding_kind kind)
{
    return classes[kinds[kind].class].check;
}

bool simt_finding_is_advice(enum simt_finding_kind kind)
{
    return kinds[kind].advice;
}

const char *simt_finding_id(enum simt_finding_kind kind)
{
    return kinds[kind].id;
}

const char *simt_finding_name(enum simt_finding_kind kind)
{
    return classes[kinds[kind].class].name;
}

const char *simt_finding_tool(enum simt_finding_kind kind)
{
    static const char *const tools[] = {
        [SIMT_RUN] = "run",
        [SIMT_MEMCHECK] = "memcheck",
        [SIMT_INITCHECK] = "initcheck",
        [SIMT_RACECHECK] = "racecheck",
        [SIMT_SYNCCHECK] = "synccheck",
    };
    return tools[simt_finding_check(kind)];
}
