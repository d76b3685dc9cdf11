/* IMODE_CPU_LEVEL holds the kernels to a lower level of x86-64 than the machine has.

   What chooses among loops compiled for several levels reads the compiler's record of the machine's
   features, of which each module has its own: resolvers of target_clones, __builtin_cpu_supports. The
   linker's --wrap (setup.py) puts the function below in place of the one that fills the record in,
   and it takes the higher levels' features out. Resolvers run while the module is loaded, before
   its constructors and before lazily bound functions can be called: so getenv is called by its address,
   and nothing else from outside. With other compilers and systems the variable does nothing. */
#ifndef IMODE_CPU_LEVEL_H
#define IMODE_CPU_LEVEL_H

#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12 && defined(__x86_64__) && \
    defined(__linux__)
#define IMODE_LEVELS 1

#include <stdlib.h>

#define ONE_OF_MODULE __attribute__((weak, visibility("hidden")))
__attribute__((noplt)) char *getenv(const char *);

extern struct {
    unsigned vendor, type, subtype, features[1];
} __cpu_model __attribute__((visibility("hidden")));
extern unsigned __cpu_features2[] __attribute__((visibility("hidden")));
int __real___cpu_indicator_init(void);

ONE_OF_MODULE int __wrap___cpu_indicator_init(void) {
    static const char name[] = "x86-64-v";
    const int result = __real___cpu_indicator_init();
    const char *asked = getenv("IMODE_CPU_LEVEL");
    int i = 0;
    while (asked && name[i] && asked[i] == name[i])
        i++;
    const char level = asked && !name[i] ? asked[i] : '4';
    if (level == '2' || level == '3') {
        /* The features' numbers, which libgcc never changes: up to SSE4.2 and POPCNT, bits 0 to 8;
           AVX, AVX2, FMA, BMI, BMI2: 9, 10, 14, 16, 17; F16C: 49; x86-64-v2 and -v3: 96, 97. */
        __cpu_model.features[0] &= level == '2' ? 0x1FFu : 0x347FFu;
        __cpu_features2[0] &= level == '2' ? 0u : 1u << 17;
        __cpu_features2[2] &= level == '2' ? 1u : 3u;
    }
    return result;
}

/* For what asks in a module without clones. */
__attribute__((constructor)) static void imode_hold_level(void) {
    __wrap___cpu_indicator_init();
}
#else
#define IMODE_LEVELS 0
#endif

#endif
