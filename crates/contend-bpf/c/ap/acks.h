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
	/* The last acknowledgment that passed, and its counter of marks (accurate ECN); `counts`: one was not 0. */
	u64 left;
	u32 left_ace, counts;
};

/* An acknowledgment; `pure`: it says nothing but its number, and what the setting `accecn` lets be dropped. */
struct told {
	u64 ack;
	u32 ace, pure;
};

/* The setting `accecn`: acknowledgments with the flags of accurate ECN pass, stay readable, or count as without. */
enum { PASS, COUNT, BLIND };

/* As crates/contend-core/src/filtered.rs has them. */
#define MOST_MARKS 6
#define MOST_SEGMENTS 7
#define SEGMENT 1448

/*
 * True if the counter stays readable without this acknowledgment. The next one is not known: it may cover as many
 * segments as this one does after `before`, two at least, and each of them may be marked.
 */
INLINE int readable(const struct acks *f, const struct told *t, u64 before)
{
	u64 reach = most((sat_sub(t->ack, most(before, f->left)) + SEGMENT - 1) / SEGMENT, 2);

	return ((t->ace - f->left_ace) & 7) + reach <= MOST_MARKS &&
	       sat_sub(t->ack, f->left) + reach * SEGMENT <= MOST_SEGMENTS * SEGMENT;
}

/* True if `t` may be dropped for what it says beside its number. `before`: the highest acknowledgment before it. */
INLINE int may_drop(const struct acks *f, const struct told *t, u64 before, u64 accecn)
{
	return f->sent > t->ack && (accecn != COUNT || !f->counts || readable(f, t, before));
}

/* `t` passes. Returns 1. */
INLINE int pass(struct acks *f, const struct told *t)
{
	f->left = t->ack;
	f->left_ace = t->ace;
	return 1;
}

/* Passes one of `d` acknowledgments. */
INLINE int thinning_passes(struct acks *f, const struct told *t, u64 d, u64 accecn)
{
	u64 before = f->highest;

	f->counts |= t->ace;
	if (t->pure && t->ack > before) {
		f->highest = t->ack;
		f->count += 1;
		if (f->count < d && may_drop(f, t, before, accecn))
			return 0;
	}
	f->count = 0;
	return pass(f, t);
}

/*
 * Drops an acknowledgment while an older one waits. This packet is number `here` into the queue, and those up to number
 * `left` have left it.
 */
INLINE int filter_passes(struct acks *f, const struct told *t, u64 here, u64 left, u64 accecn)
{
	u64 before = f->highest;
	int is_new = t->pure && t->ack > before;

	f->counts |= t->ace;
	f->highest = most(before, t->ack);
	if (is_new && f->waiting > left && may_drop(f, t, before, accecn))
		return 0;
	f->waiting = is_new ? here : 0;
	return pass(f, t);
}

#endif
