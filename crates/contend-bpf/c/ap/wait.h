/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* The wait behind a queue. */
#ifndef CONTEND_AP_WAIT_H
#define CONTEND_AP_WAIT_H

#include "../arith.h"

/* True if `backlog` bytes take longer than `us` microseconds at `rate` bit/s. */
INLINE int waits_longer(u64 backlog, u64 rate, u64 us) { return rate && sat_mul(backlog, 8000000) > sat_mul(rate, us); }

#endif
