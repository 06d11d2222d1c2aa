/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * Westwood+ in Linux's form, as crates/contend-core/src/cc/westwood.rs with estimate/westwood_plus.rs: Grieco and
 * Mascolo 2004. `filter` is always `plus`, and `form` is always `linux`.
 */
#include "../cc.h"

struct westwood_set {
	u64 filter; /* westwood, nr, plus */
	u64 form; /* paper, linux */
	u64 tau;
	u64 m;
	u64 samples;
	u64 shortest;
	u64 count; /* westwood, literal */
	u64 abc;
};
SETTINGS struct westwood_set settings = { .filter = 2, .form = 1, .shortest = 50000000, .abc = 0 };
#define WESTWOOD_UNLIMITED 0
/* The controller is told when a recovery has ended. */
#define ON_RECOVERED westwood_on_recovered

struct westwood {
	/* Outputs of the two low-passes in 2^-8 bytes per second. */
	u64 first_q8, rate_q8;
	/* The current sample: bytes and microseconds. */
	u64 bytes, passed_us;
	/* The last arrival in microseconds. */
	u64 last_us;
	/* The last round trip: of the estimate, and of RTTmin. */
	u32 sample_rtt_us, rtt_us, min_rtt_us;
	u8 started, unused[3];
};

#define MOST_Q8 ((1ull << 39) - 1)
#define PER_US (1000000ull << 8)

/* Xu 2005 eq. 5.3: BWE RTTmin / seg_size, in segments. */
INLINE u32 westwood_carried(const struct westwood *s, const struct window *w)
{
	return narrow(sat_mul(s->rate_q8 >> 8, s->min_rtt_us) / 1000000 / most(w->mss, 1));
}

ENTRY void westwood_start(struct westwood *s, const struct window *w) {}
ENTRY void westwood_on_restart(struct westwood *s, u64 now, struct window *w) {}

ENTRY void westwood_every_ack(struct westwood *s, u64 now, struct window *w, const struct ack *a)
{
	u64 here = now / 1000, delta, sample;

	if (a->has_rtt)
		s->rtt_us = a->rtt_us;
	s->min_rtt_us = s->min_rtt_us ? least(s->min_rtt_us, s->rtt_us) : s->rtt_us;
	if (!a->dup && !a->acked && !a->sacked)
		return;
	if (a->has_rtt)
		s->sample_rtt_us = a->rtt_us;
	delta = sat_sub(here, s->last_us);
	s->last_us = here;
	if (!s->started) {
		/* Its data were sent before the clock started. */
		s->started = 1;
		return;
	}
	s->passed_us = sat_add(s->passed_us, delta);
	s->bytes = sat_add(s->bytes, (u64)(settings.count ? 1 : a->delivered) * w->mss);
	if (!s->sample_rtt_us || s->passed_us <= most(s->sample_rtt_us, narrow(settings.shortest / 1000)))
		return;
	sample = least(sat_mul(s->bytes, PER_US) / s->passed_us, MOST_Q8);
	if (!s->first_q8 && !s->rate_q8) {
		s->first_q8 = s->rate_q8 = sample;
	} else {
		s->first_q8 = (7 * s->first_q8 + sample) / 8;
		s->rate_q8 = (7 * s->rate_q8 + s->first_q8) / 8;
	}
	s->bytes = s->passed_us = 0;
}

ENTRY void westwood_on_ack(struct westwood *s, u64 now, struct window *w, const struct ack *a)
{
	reno_grow(w, a->acked, abc_limit(settings.abc));
}

ENTRY void westwood_on_congestion(struct westwood *s, u64 now, const struct window *w, const struct signal *why,
			     struct response *r)
{
	if (why->why != TIMEOUT) {
		*r = clamp_to(w->cwnd / 2, w);
	} else if (why->nth <= 1) {
		*r = restart_from(westwood_carried(s, w));
		/* Linux (CA_EVENT_LOSS): the path may have changed. */
		s->min_rtt_us = 0;
	} else {
		/* RFC 5681 §3.1: the threshold is kept if the same segment times out again. */
		*r = response(w->ssthresh, 1);
	}
}

ENTRY void westwood_on_recovered(struct westwood *s, u64 now, struct window *w)
{
	w->ssthresh = most(westwood_carried(s, w), 2);
	w->cwnd = w->ssthresh;
}
