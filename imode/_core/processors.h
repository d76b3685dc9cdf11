/* How many processors this process may use: those of its affinity, and of its control group. */
#ifndef IMODE_PROCESSORS_H
#define IMODE_PROCESSORS_H

#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifdef __linux__
/* The processors that a quota in `file` pays for, rounded up; INT_MAX: no quota, or no file. The
   file holds "QUOTA PERIOD" in microseconds, and "max" for none. */
static int processors_of_quota(const char *file) {
    long quota, period;
    int found = INT_MAX;
    FILE *f = fopen(file, "r");
    if (f == NULL)
        return found;
    if (fscanf(f, "%ld %ld", &quota, &period) == 2 && quota > 0 && period > 0)
        found = (int)((quota + period - 1) / period);
    fclose(f);
    return found;
}

/* The least that the control group of this process and those around it allow (version 2). */
static int processors_of_group(void) {
    const char root[] = "/sys/fs/cgroup";
    char line[1024], file[sizeof root + sizeof line + 16];
    int least = INT_MAX;
    FILE *f = fopen("/proc/self/cgroup", "r");
    if (f == NULL)
        return least;
    while (fgets(line, sizeof line, f) != NULL && strncmp(line, "0::", 3) != 0)
        line[0] = '\0';
    fclose(f);
    line[strcspn(line, "\n")] = '\0';
    if (strncmp(line, "0::/", 4) != 0)
        return least;
    for (char *path = line + 3, *end;; *end = '\0') {
        snprintf(file, sizeof file, "%s%s/cpu.max", root, strcmp(path, "/") == 0 ? "" : path);
        const int here = processors_of_quota(file);
        least = here < least ? here : least;
        end = strrchr(path, '/');
        if (end == NULL || path[1] == '\0')
            return least;
        if (end == path)
            end++; /* the root itself is the last */
    }
}
#endif

static int count_processors(void) {
    int n = (int)sysconf(_SC_NPROCESSORS_ONLN);
#ifdef __linux__
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        n = CPU_COUNT(&set);
    const int paid = processors_of_group();
    n = paid < n ? paid : n;
#endif
    return n < 1 ? 1 : n;
}

#endif
