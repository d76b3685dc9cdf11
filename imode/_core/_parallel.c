/* The thread pool behind parallel_for.

   There is one job at a time. The caller publishes it under the lock, works on it too, and at the
   end waits only for the workers that joined: a worker that wakes too late finds the job closed.
   Each thread has a part of the range, the same one in every job of a size, so that it finds in its
   cache what it left there; an atomic counter hands out the chunks of a part. Who is done with his
   own goes on with the others': a slow thread takes fewer.

   To sleep and be woken takes as long as a small job. So a worker without a job, and a caller whose
   workers are not done, look again for some ten microseconds before they sleep, unless the threads
   are more than the processors. A helper that sleeps is woken on a processor that is not the
   caller's: Linux may else queue it behind the caller for milliseconds, while others are idle.

   Invariants, all under `lock` unless said otherwise:
   - `job.body` is NULL exactly when no job is open; only the owner of `busy` opens or closes one.
   - `job.joined <= job.max_helpers`, and `job.active` of them are still in the body.
   - `published` changes, without the lock, after a job was opened.
   - `helpers` threads exist; they never end. The process may exit while they sleep.
   - `helper[i].asleep` are in pthread_cond_wait, `sleeping` in all. */

#define _GNU_SOURCE
#include "parallel.h"
#include "processors.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#define MAX_THREADS 1024
#define CHUNKS_PER_THREAD 4 /* enough to balance threads of unequal speed */
#define LOOKS 4000          /* pauses before a thread sleeps */
#define MAX_PARTS 64        /* of a range; more threads than that share parts */

#if defined(__x86_64__) || defined(__i386__)
#define PAUSE() __builtin_ia32_pause()
#elif defined(__aarch64__)
#define PAUSE() __asm__ volatile("yield")
#else
#define PAUSE() ((void)0)
#endif

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t opened = PTHREAD_COND_INITIALIZER;
static pthread_cond_t finished = PTHREAD_COND_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static struct {
    imode_range_body body;
    void *ctx;
    ptrdiff_t n, chunk;
    int parts;
    struct {
        _Alignas(64) atomic_ptrdiff_t next; /* first chunk that no thread has taken yet */
        ptrdiff_t end;
    } part[MAX_PARTS];
    int max_helpers, joined;
    atomic_int active;
} job;

static atomic_int busy;        /* 1 while a caller owns the pool */
static atomic_int num_threads; /* 0 until first asked for */
static atomic_int published;   /* jobs opened so far */
static struct {
    pthread_t thread;
    int asleep;
} helper[MAX_THREADS];
static int helpers;            /* threads started; callers not counted */
static int sleeping;           /* of these, in pthread_cond_wait */
static int processors;         /* that this process may run on */
static _Thread_local int inside; /* this thread is in a body: nested loops run inline */
static _Thread_local int skipping; /* this thread wants shapes alone: loops are not entered */

/* Work on the job until it is all taken, as thread `number`: the caller is 0, helpers follow. */
static void take_chunks(int number) {
    const imode_range_body body = job.body;
    void *const ctx = job.ctx;
    const ptrdiff_t n = job.n, chunk = job.chunk;
    const int parts = job.parts;
    inside = 1;
    for (int i = 0; i < parts; i++) {
        const int part = (number + i) % parts;
        const ptrdiff_t end = job.part[part].end;
        for (ptrdiff_t at; (at = atomic_fetch_add(&job.part[part].next, 1)) < end;) {
            const ptrdiff_t begin = at * chunk;
            body(ctx, begin, n - begin < chunk ? n : begin + chunk);
        }
    }
    inside = 0;
}

/* Look, without the lock, until the number is not `old`, for a short time. */
static void await_change(atomic_int *number, int old) {
    const int looks = imode_get_num_threads() <= processors ? LOOKS : 0;
    for (int i = 0; i < looks && atomic_load_explicit(number, memory_order_acquire) == old; i++)
        PAUSE();
}

/* Whether there is a job to help with. Holds `lock`. */
static int wanted(void) {
    if (job.body == NULL || job.joined >= job.max_helpers)
        return 0;
    for (int i = 0; i < job.parts; i++)
        if (atomic_load(&job.part[i].next) < job.part[i].end)
            return 1;
    return 0;
}

/* Let helpers that sleep wake up where the caller is not, if it may run elsewhere at all. They stay
   away from there until they sleep again. Holds `lock`. */
static void make_room(void) {
#ifdef __linux__
    cpu_set_t allowed, others;
    const int here = sched_getcpu();
    if (here < 0 || sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return;
    others = allowed;
    CPU_CLR(here, &others);
    for (int i = 0; i < helpers; i++)
        if (helper[i].asleep)
            pthread_setaffinity_np(helper[i].thread, sizeof others,
                                   CPU_COUNT(&others) > 0 ? &others : &allowed);
#endif
}

/* Return when there is a job for helper `i`. Holds `lock`, but not while it waits. */
static void await_job(int i) {
    while (!wanted()) {
        const int seen = atomic_load(&published);
        pthread_mutex_unlock(&lock);
        await_change(&published, seen);
        pthread_mutex_lock(&lock);
        if (wanted() || atomic_load(&published) != seen)
            continue;
        sleeping++;
        helper[i].asleep = 1;
        pthread_cond_wait(&opened, &lock);
        helper[i].asleep = 0;
        sleeping--;
    }
}

static void *helper_main(void *number) {
    const int i = (int)(intptr_t)number;
    pthread_mutex_lock(&lock);
    for (;;) {
        await_job(i);
        job.joined++;
        atomic_fetch_add(&job.active, 1);
        pthread_mutex_unlock(&lock);
        take_chunks(i + 1);
        pthread_mutex_lock(&lock);
        if (atomic_fetch_sub(&job.active, 1) == 1)
            pthread_cond_signal(&finished);
    }
    return NULL;
}

/* ---- fork: the child has no helpers, and starts with an idle pool ---- */

static void before_fork(void) { pthread_mutex_lock(&lock); }
static void after_fork_parent(void) { pthread_mutex_unlock(&lock); }
static void after_fork_child(void) {
    pthread_mutex_init(&lock, NULL);
    pthread_cond_init(&opened, NULL);
    pthread_cond_init(&finished, NULL);
    job.body = NULL;
    job.joined = 0;
    atomic_store(&job.active, 0);
    helpers = sleeping = 0;
    atomic_store(&busy, 0);
}

static void set_up(void) {
    pthread_atfork(before_fork, after_fork_parent, after_fork_child);
    processors = count_processors();
    const char *asked = getenv("OMP_NUM_THREADS");
    long n = asked != NULL ? strtol(asked, NULL, 10) : 0;
    if (n <= 0)
        n = processors;
    int unset = 0;
    atomic_compare_exchange_strong(&num_threads, &unset, n < MAX_THREADS ? (int)n : MAX_THREADS);
}

/* Start helpers until there are `count`, or until the system refuses. Holds `lock`. */
static void start_helpers(int count) {
    sigset_t all, old;
    sigfillset(&all); /* signals stay with Python's threads */
    pthread_sigmask(SIG_SETMASK, &all, &old);
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    while (helpers < count) {
        void *number = (void *)(intptr_t)helpers;
        helper[helpers].asleep = 0;
        if (pthread_create(&helper[helpers].thread, &attr, helper_main, number) != 0)
            break;
        helpers++;
    }
    pthread_attr_destroy(&attr);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

int imode_skipping(void) { return skipping; }

int imode_set_skipping(int on) {
    int before = skipping;
    skipping = on;
    return before;
}

int imode_parallel_for(ptrdiff_t n, ptrdiff_t grain, imode_range_body body, void *ctx) {
    if (n <= 0)
        return 0;
    if (skipping)
        return 1;
    if (grain < 1)
        grain = 1;
    int threads = n > grain && !inside ? imode_get_num_threads() : 1;
    if ((n + grain - 1) / grain < threads)
        threads = (int)((n + grain - 1) / grain);
    if (threads <= 1 || atomic_exchange(&busy, 1)) {
        body(ctx, 0, n);
        return 1;
    }
    ptrdiff_t chunk = n / ((ptrdiff_t)threads * CHUNKS_PER_THREAD) + 1;
    if (chunk < grain)
        chunk = grain;
    ptrdiff_t chunks = (n + chunk - 1) / chunk;
    if (chunks >= threads) /* as many for each, of about the same size */
        chunk = (n - 1) / (chunks - chunks % threads) + 1;
    chunks = (n + chunk - 1) / chunk;

    pthread_mutex_lock(&lock);
    if (helpers < threads - 1)
        start_helpers(threads - 1);
    job.body = body;
    job.ctx = ctx;
    job.n = n;
    job.chunk = chunk;
    job.max_helpers = threads - 1;
    job.joined = 0;
    job.parts = threads < MAX_PARTS ? threads : MAX_PARTS;
    for (int i = 0; i < job.parts; i++) {
        atomic_store(&job.part[i].next, chunks * i / job.parts);
        job.part[i].end = chunks * (i + 1) / job.parts;
    }
    if (sleeping) {
        make_room();
        pthread_cond_broadcast(&opened);
    }
    pthread_mutex_unlock(&lock);
    atomic_fetch_add(&published, 1);

    take_chunks(0);

    pthread_mutex_lock(&lock);
    int used = job.joined + 1;
    job.body = NULL;
    pthread_mutex_unlock(&lock);
    for (int left; (left = atomic_load(&job.active)) > 0;) {
        await_change(&job.active, left);
        if (atomic_load(&job.active) != left)
            continue;
        pthread_mutex_lock(&lock);
        if (atomic_load(&job.active) == left)
            pthread_cond_wait(&finished, &lock);
        pthread_mutex_unlock(&lock);
    }
    atomic_store(&busy, 0);
    return used;
}

void imode_set_num_threads(int n) {
    pthread_once(&once, set_up);
    atomic_store(&num_threads, n < MAX_THREADS ? n : MAX_THREADS);
}

int imode_get_num_threads(void) {
    int n = atomic_load_explicit(&num_threads, memory_order_relaxed);
    if (n == 0) {
        pthread_once(&once, set_up);
        n = atomic_load(&num_threads);
    }
    return n;
}
