// Reads the processor's time-stamp counter, for which Swift has no intrinsic.
#ifndef PIPSINK_CCOUNTER_SHIM_H
#define PIPSINK_CCOUNTER_SHIM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/prctl.h>

/// Whether this process can read the counter. It cannot on processors other than x86-64.
static inline bool pipsink_counter_is_readable(void) {
#if defined(__x86_64__)
  int mode = 0;
  // A process can disable the instruction for itself, and executing it ends the process then.
  return prctl(PR_GET_TSC, &mode) != 0 || mode == PR_TSC_ENABLE;
#else
  return false;
#endif
}

/// Reads the counter without waiting for the instructions before it. RDTSCP, and RDTSC after LFENCE, would wait (Intel
/// SDM volume 2, AMD64 APM volume 3).
static inline uint64_t pipsink_counter(void) {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  return 0;
#endif
}

#endif
