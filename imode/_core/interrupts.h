/* Signals that are noted instead of handled, and sent again later. See importing.pyx. */
#ifndef IMODE_INTERRUPTS_H
#define IMODE_INTERRUPTS_H
#include <Python.h>
#include <signal.h>
#ifdef HAVE_SIGACTION
#include <unistd.h>
#endif

enum { IMODE_SIGNALS = 128 };
static volatile sig_atomic_t imode_noted[IMODE_SIGNALS];

static void imode_note(int number) {
    imode_noted[number] = 1;
#ifndef HAVE_SIGACTION
    PyOS_setsig(number, imode_note);
#endif
}

#ifdef HAVE_SIGACTION
static struct sigaction imode_before[IMODE_SIGNALS];

static void imode_hold(int number) {
    struct sigaction action;
    if (sigaction(number, NULL, &action) != 0) return;
    imode_before[number] = action;
    action.sa_flags &= ~SA_SIGINFO;
    action.sa_handler = imode_note;
    sigaction(number, &action, NULL);
}

/* Sent to the process, not to this thread, so that it can wake Python's main thread. */
static void imode_pass_on(int number) {
    struct sigaction action;
    if (sigaction(number, NULL, &action) == 0 && action.sa_handler == imode_note)
        sigaction(number, &imode_before[number], NULL);
    if (imode_noted[number]) {
        imode_noted[number] = 0;
        kill(getpid(), number);
    }
}
#else
static PyOS_sighandler_t imode_before[IMODE_SIGNALS];

static void imode_hold(int number) {
    imode_before[number] = PyOS_setsig(number, imode_note);
}

static void imode_pass_on(int number) {
    if (PyOS_getsig(number) == imode_note) PyOS_setsig(number, imode_before[number]);
    if (imode_noted[number]) {
        imode_noted[number] = 0;
        PyErr_SetInterruptEx(number);
    }
}
#endif
#endif
