/* Included in front of every file on Linux, x86-64 (setup.py): functions by the versions that glibc
   2.35 has of them. Later ones gave new versions, and a module that was built there and asked for
   these would not load with an older glibc, though it uses nothing else that is new. 2.35 itself is
   needed by the vector forms of erf, expm1 and others in libmvec. A line without a use does nothing.
   No header is included here: files define _GNU_SOURCE after this one. */
#ifndef IMODE_OLDEST_GLIBC_H
#define IMODE_OLDEST_GLIBC_H

#ifdef __x86_64__
#define OLDER(name, older) __asm__(".symver " #name ", " #older)
OLDER(fmod, fmod@GLIBC_2.2.5);   /* 2.38 */
OLDER(fmodf, fmodf@GLIBC_2.2.5); /* 2.38 */
OLDER(__isoc23_strtol, strtol@GLIBC_2.2.5);
OLDER(__isoc23_fscanf, __isoc99_fscanf@GLIBC_2.7);
OLDER(atan2f, atan2f@GLIBC_2.2.5); /* 2.43 */
#undef OLDER
#endif

#endif
