/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * TCP-Jersey, as crates/contend-core/src/cc/jersey.rs with estimate/{are,clock,filter}.rs: Xu 2005 §5.4-5.6, eq. 5.22,
 * appendix B. In the kernel there is one signal for each window of data: `reaction` is always `round`.
 */
#include "../cc.h"

struct jersey_set {
	u64 estimator; /* ts_are, are */
	u64 filter;
	u64 count; /* westwood, literal */
	u64 reaction; /* round, every */
	u64 rate_control; /* clamp, literal_ca, unconditional */
	u64 timeout; /* differentiated, standard */
	u64 floor;
	u64 abc;
};
SETTINGS struct jersey_set settings = { .filter = 1, .floor = 2, .abc = 0 };
#define JERSEY_UNLIMITED 0

struct jersey {
	/* Rates in 2^-8 bytes per second; bytes of intervals of length zero. */
	u64 rate_q8, sample_q8, held;
	/* The last arrival in microseconds, or the last timestamp in ticks. */
	u64 last;
	u32 min_rtt_us;
	u8 started, unused[3];
};

#define MOST_Q8 ((1ull << 39) - 1)
#define LONGEST_US ((1ull << 24) - 1)
#define SLOWEST_US ((1ull << 23) - 1)
#define PER_US (1000000ull << 8)

/* The rate of `bytes` in an interval, in 2^-8 bytes per second. */
INLINE u64 jersey_sample(u64 bytes, u64 delta_us)
{
	return delta_us ? least(sat_mul(bytes, PER_US) / delta_us, MOST_Q8) : 0;
}

/* Eq. 5.8 and 5.9: (tau R + L) / (Delta + tau). */
INLINE void sliding_window(struct jersey *s, u64 bytes, u64 delta_us, u64 tau_us)
{
	u64 tau = between(tau_us, 1, SLOWEST_US), sum = sat_add(tau * s->rate_q8, sat_mul(bytes, PER_US));

	s->rate_q8 = least(sum / (least(delta_us, LONGEST_US) + tau), MOST_Q8);
}

/* Eq. 5.2 and 5.19: ((2 tau - Delta) R + Delta (b + b')) / (2 tau + Delta). */
INLINE void bilinear(struct jersey *s, u64 bytes, u64 delta_us, u64 tau_us)
{
	u64 twice = 2 * between(tau_us, 1, SLOWEST_US), delta = least(delta_us, LONGEST_US), add, sum;

	bytes = sat_add(s->held, bytes);
	s->held = delta_us ? 0 : bytes;
	if (!delta_us)
		return;
	add = sat_add(sat_mul(bytes, PER_US), delta * s->sample_q8);
	sum = delta <= twice ? sat_add((twice - delta) * s->rate_q8, add) : sat_sub(add, (delta - twice) * s->rate_q8);
	s->rate_q8 = least(sum / (twice + delta), MOST_Q8);
	s->sample_q8 = jersey_sample(bytes, delta);
}

/* Eq. 5.22: RTTmin ARE / seg_size, in segments. */
INLINE u32 jersey_optimum(const struct jersey *s, const struct window *w)
{
	u64 bytes = sat_mul(s->rate_q8 >> 8, s->min_rtt_us) / 1000000;

	return most(narrow(bytes / most(w->mss, 1)), narrow(settings.floor));
}

ENTRY void jersey_start(struct jersey *s, const struct window *w) {}
ENTRY void jersey_on_restart(struct jersey *s, u64 now, struct window *w) {}

ENTRY void jersey_every_ack(struct jersey *s, u64 now, struct window *w, const struct ack *a)
{
	int stamps = settings.estimator == 0 && w->tick_ns > 0 && a->has_tsval;
	u64 here = stamps ? a->tsval : now / 1000, delta, tau = (u64)a->srtt_us + a->rttvar_us;
	u64 bytes = (u64)(settings.count ? 1 : a->delivered) * w->mss;
	u32 ticks;

	s->min_rtt_us = a->min_rtt_us;
	if (!a->dup && !a->acked && !a->sacked)
		return;
	if (!s->started) {
		s->started = 1;
		s->last = here;
		s->sample_q8 = jersey_sample(bytes, a->srtt_us);
		s->rate_q8 = s->sample_q8;
		return;
	}
	if (stamps) {
		/* RFC 7323 §5.2: modulo 2^32. An older timestamp does not set the clock back. */
		ticks = (u32)here - (u32)s->last;
		delta = ticks >> 31 ? 0 : (u64)ticks * w->tick_ns / 1000;
		s->last = ticks >> 31 ? s->last : here;
	} else {
		delta = sat_sub(here, s->last);
		s->last = here;
	}
	if (settings.filter == 2)
		bilinear(s, bytes, delta, tau);
	else
		sliding_window(s, bytes, delta, tau);
}

ENTRY void jersey_on_ack(struct jersey *s, u64 now, struct window *w, const struct ack *a)
{
	reno_grow(w, a->acked, abc_limit(settings.abc));
}

ENTRY void jersey_on_congestion(struct jersey *s, u64 now, const struct window *w, const struct signal *why,
			     struct response *r)
{
	u32 optimum = jersey_optimum(s, w), clamped = least(optimum, w->cwnd);

	if (why->why == LOST && !why->marked) {
		/* §5.5, App. B algorithm 1: explicit retransmit. */
		*r = keep(w);
		r->error = 1;
	} else if (why->why != TIMEOUT) {
		*r = response(optimum, optimum);
		if (settings.rate_control == 0)
			r->cwnd = clamped;
		else if (settings.rate_control == 1 && w->cwnd < w->ssthresh)
			r->cwnd = w->cwnd;
	} else if (settings.timeout) {
		*r = reno_answer(w, why);
	} else if (why->marked) {
		/* App. B algorithm 2. */
		*r = response(optimum, 1);
	} else {
		*r = response(optimum, settings.rate_control == 0 ? clamped : optimum);
		r->error = 1;
	}
}
