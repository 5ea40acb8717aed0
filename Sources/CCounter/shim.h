// The processor's time-stamp counter, which Swift has no intrinsic for.
#ifndef PIPSINK_CCOUNTER_SHIM_H
#define PIPSINK_CCOUNTER_SHIM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/prctl.h>

/// Whether this process may read the counter; a processor without one, or without our way to it, has none to read.
static inline bool pipsink_counter_is_readable(void) {
#if defined(__x86_64__)
  int mode = 0;
  // A process may forbid itself the instruction, which then ends it.
  return prctl(PR_GET_TSC, &mode) != 0 || mode == PR_TSC_ENABLE;
#else
  return false;
#endif
}

/// The counter, read without waiting for the instructions before it (those that wait are RDTSCP, and RDTSC behind LFENCE:
/// Intel SDM volume 2, AMD64 APM volume 3).
static inline uint64_t pipsink_counter(void) {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  return 0;
#endif
}

#endif
