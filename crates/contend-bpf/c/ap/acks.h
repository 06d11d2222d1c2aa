/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * Whether an acknowledgment passes, as crates/contend-core/src/ap/ack_thinning.rs and qdisc/ack_filter.rs decide it.
 *
 * A tc program can neither hold a packet nor reach into the queue. So it drops an acknowledgment only if data beyond it
 * have passed: then a later acknowledgment must follow. Of two acknowledgments it drops the newer, where the queue
 * discipline replaces the older.
 */
#ifndef CONTEND_AP_ACKS_H
#define CONTEND_AP_ACKS_H

#include "../arith.h"

struct acks {
	/* The highest acknowledgment, and the end of the data that passed in the other direction; 0: none yet. */
	u64 highest, sent;
	/* Acknowledgments since the last one that passed. */
	u64 count;
	/* Number of the acknowledgment that may still wait in the queue; 0: none. */
	u64 waiting;
};

/* Passes one of `d` acknowledgments. `pure`: it says nothing but its number. */
INLINE int thinning_passes(struct acks *f, u64 ack, int pure, u64 d)
{
	if (pure && ack > f->highest) {
		f->highest = ack;
		f->count += 1;
		if (f->count < d && f->sent > ack)
			return 0;
	}
	f->count = 0;
	return 1;
}

/*
 * Drops an acknowledgment while an older one waits. This packet is number `here` into the queue, and those up to number
 * `left` have left it.
 */
INLINE int filter_passes(struct acks *f, u64 ack, int pure, u64 here, u64 left)
{
	int is_new = pure && ack > f->highest;

	f->highest = most(f->highest, ack);
	if (is_new && f->waiting > left && f->sent > ack)
		return 0;
	f->waiting = is_new ? here : 0;
	return 1;
}

#endif
