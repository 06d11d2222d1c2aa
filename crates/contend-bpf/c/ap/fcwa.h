/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * FCWA's measurements and windows, as crates/contend-core/src/ap/{fcwa,path,window}.rs compute them with mode =
 * "estimated". Keceli, Inan, Ayanoglu 2008, §III. Times in ns.
 */
#ifndef CONTEND_AP_FCWA_H
#define CONTEND_AP_FCWA_H

#include "../arith.h"

struct fcwa_set {
	u64 segments; /* window limit of each flow; 0: computed from what is measured */
	u64 keep_edge; /* 1: an offered window is not taken back */
	u64 buffer; /* BS_AP: packets that may wait at the access point */
	u64 margin; /* thousandths of W_lim */
	u64 minimum; /* least window in segments */
	u64 least_delay; /* 1: 2 LD is the minimum of its samples over 10 to 20 s; 0: their mean */
	u64 active; /* T_active in ms */
	u64 update; /* T_update in ms */
	u64 data_data; /* cycle times in ns (contend model cycle-time): both send data, */
	u64 data_ack; /* one data and one acknowledgments, */
	u64 ack_ack; /* both acknowledgments */
};

/* A minimum of 2 LD is kept for this long at least. */
#define MIN_WINDOW 10000000000ull
/* An ACK that covers more segments than this gives no sample of b. */
#define MOST_PER_ACK 4
/* One data packet per ACK, as b is kept. */
#define ONE (1ull << 16)
#define MS 1000000ull

/* What is known of one flow: data in one direction, acknowledgments in the other. Ends of data 0: none. */
struct path {
	/* Time of the last payload. */
	u64 last;
	/* Mean of 2 LD in 1/256 ns. */
	u64 mean;
	/* Minimum of 2 LD in the current MIN_WINDOW and in the one before, U64_MAX: none; the start of the current one. */
	u64 least[2], since;
	/* Data packets per ACK, in parts of ONE; 0: not known. */
	u64 b;
	/* The running sample, and that of the segment after it: the byte that ends it, and when it began. */
	u64 first, first_at, second, second_at;
	/* The end of the highest data, and the highest ACK; 0: none. */
	u64 end, acked;
	/* W_i in segments, and the number of the update that computed it. */
	u64 segments, generation;
	u8 up, active, sampled, unused[5];
};

/* What all flows share. */
struct fcwa_all {
	/* When inactive flows are removed next. */
	u64 next;
	/* Number of updates so far. */
	u64 generation;
	/* 2 (n_up / b + n_down), twice the packets that the access point sends per round; CT_AP. */
	u64 per_two_rounds, ct_ap;
};

/* Active flows, and the sum of their b. */
struct fcwa_count {
	u64 up, down, b;
};

/* A path of which nothing is known yet: `up` and `last` are to be set. */
#define NEW_PATH { .least = { U64_MAX, U64_MAX } }

/* `mean` moved towards `sample` by an eighth. */
INLINE u64 towards(u64 mean, u64 sample)
{
	return sample >= mean ? mean + (sample - mean) / 8 : mean - (mean - sample) / 8;
}

INLINE void path_give_up(struct path *p) { p->first = p->second = 0; }

INLINE void path_sample(struct path *p, u64 now, u64 since)
{
	u64 s = sat_sub(now, since), fine = sat_mul(s, 256);

	p->mean = p->sampled ? towards(p->mean, fine) : fine;
	p->sampled = 1;
	if (sat_sub(now, p->since) > MIN_WINDOW) {
		p->least[1] = p->least[0];
		p->least[0] = U64_MAX;
		p->since = now;
	}
	p->least[0] = least(p->least[0], s);
	path_give_up(p);
}

/* Payload passes. Returns 1 if the flow becomes active. */
INLINE int path_sees_data(struct path *p, u64 now)
{
	int becomes = !p->active;

	p->last = now;
	p->active = 1;
	return becomes;
}

/* Updates the estimates from data from `seq` to `end`. `edge` is the right edge that was offered to their sender. */
INLINE void path_data(struct path *p, u64 now, u64 seq, u64 end, u64 edge)
{
	if (seq < p->end) {
		/* Karn: retransmitted data give no delay sample. */
		path_give_up(p);
		return;
	}
	p->end = end;
	if (p->up && !p->first) {
		/* Keceli 2008 §III-C: for an upload, from data to their ACK. */
		p->first = end;
		p->first_at = now;
	} else if (p->up && seq == p->first && !p->second) {
		p->second = end;
		p->second_at = now;
	} else if (!p->up && p->first && end > p->first) {
		/* For a download, from an ACK to the data that it releases. */
		path_sample(p, now, p->first_at);
	}
}

/* Updates the estimates from an acknowledgment that moves the right edge from `before` to `edge`. */
INLINE void path_ack(struct path *p, u64 now, u64 ack, u64 before, u64 edge, u32 mss)
{
	u64 covered;

	if (p->up && p->first && ack >= p->first) {
		/* An ACK that covers more data was not triggered by this segment. */
		if (ack == p->first)
			path_sample(p, now, p->first_at);
		else if (p->second && ack == p->second)
			path_sample(p, now, p->second_at);
		else
			path_give_up(p);
	} else if (!p->up && !p->first && before && edge > before) {
		p->first = before;
		p->first_at = now;
	}
	if (p->acked && ack > p->acked && mss) {
		covered = sat_mul(ack - p->acked, ONE) / mss;
		if (covered <= MOST_PER_ACK * ONE) {
			/* Keceli 2008 §III-C: b from the numbers of consecutive ACKs. */
			covered = between(covered, ONE, 2 * ONE);
			p->b = p->b ? towards(p->b, covered) : covered;
		}
	}
	p->acked = most(p->acked, ack);
}

/* Marks a flow as inactive after T_active of silence. */
INLINE void path_expires(struct path *p, u64 now, u64 active)
{
	if (sat_sub(now, p->last) > active)
		p->active = 0;
}

/* Counts a flow. */
INLINE void path_counts(const struct path *p, struct fcwa_count *c)
{
	if (!p->active)
		return;
	if (p->up)
		c->up += 1;
	else
		c->down += 1;
	c->b += p->b ? p->b : ONE;
}

/* Keceli 2008 eq. 7: the mean of two cycle times, the first with weight `part` of `whole`. */
INLINE u64 cycle(u64 part, u64 whole, u64 first, u64 second)
{
	return (sat_mul(part, first) + sat_mul(whole - part, second)) / whole;
}

/* Recomputes what all windows share. */
INLINE void fcwa_update(struct fcwa_all *all, const struct fcwa_count *c, const volatile struct fcwa_set *set)
{
	u64 n = c->up + c->down, one, ap, stations;

	all->generation += 1;
	all->per_two_rounds = 0;
	if (!n)
		return;
	/* Keceli 2008 §III-C assumes the same b for all flows: 1, or 2 from a mean of one and a half on. */
	one = 2 * c->b < 3 * ONE * n;
	ap = (one ? 2 * c->up : c->up) + 2 * c->down;
	stations = (one ? 2 * c->down : c->down) + 2 * c->up;
	all->per_two_rounds = ap;
	/* Keceli 2008 eqs. 7 to 9: the shares of data frames in what the access point and the stations send. */
	all->ct_ap = cycle(2 * c->down, ap, cycle(2 * c->up, stations, set->data_data, set->data_ack),
			   cycle(2 * c->up, stations, set->data_ack, set->ack_ack));
}

/* The window limit of a flow in segments; U64_MAX before the first update. */
INLINE u64 fcwa_segments(struct path *p, const struct fcwa_all *all, const volatile struct fcwa_set *set)
{
	u64 two_ld = p->mean / 256, below;

	if (!all->per_two_rounds || !all->ct_ap)
		return U64_MAX;
	if (p->generation != all->generation) {
		if (set->least_delay && p->sampled)
			two_ld = least(p->least[0], p->least[1]);
		/* Keceli 2008 eqs. 5, 6: the packets on the wire plus the flow's share of the buffer. */
		below = sat_mul(1000 * all->per_two_rounds, all->ct_ap);
		p->segments = most(sat_mul(2 * set->margin, sat_add(two_ld, sat_mul(set->buffer, all->ct_ap))) / below,
				   most(set->minimum, 1));
		p->generation = all->generation;
	}
	return p->segments;
}

#endif
