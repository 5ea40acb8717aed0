// Counts calls of malloc and its relatives, in a program that links this or has it loaded before the C library (LD_PRELOAD).
#ifndef PIPSINK_ALLOCATION_COUNTER_H
#define PIPSINK_ALLOCATION_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

/// Whether calls are counted: not under a sanitizer, which has a malloc of its own.
bool pipsink_counts_allocations(void);

/// Calls on this thread so far.
uint64_t pipsink_allocation_count(void);

/// Calls on all threads so far.
uint64_t pipsink_total_allocation_count(void);

#endif
