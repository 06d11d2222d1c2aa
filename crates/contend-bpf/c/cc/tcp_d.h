/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* TCP-D, as crates/contend-core/src/cc/tcp_d.rs: Starzetz 2006 §10.2, eq. 10.1-10.5. */
#include "../cc.h"

struct tcp_d_set {
	u64 growth_1000;
	u64 q_1000;
	u64 epsilon_1000;
	u64 k;
	u64 interval; /* min, max */
	u64 sent_1000;
	u64 check; /* new, every */
	u64 sign; /* repaired, printed */
	u64 shrunk; /* skip, signed */
	u64 inflation;
	u64 increase; /* constant, running */
	u64 xi_waits;
	u64 cold_ends; /* xi, loss */
	u64 validated;
	u64 forgets;
	u64 timeout_window;
};
SETTINGS struct tcp_d_set settings = {
	.growth_1000 = 500,
	.q_1000 = 250,
	.k = 7,
	.sent_1000 = 1500,
	.inflation = 1,
	.xi_waits = 1,
	.timeout_window = 2,
};
#define TCP_D_UNLIMITED 1

#define ONE_Q20 (1ull << 20)
#define MOST_Q20 (1ull << 50)
#define MANY (1u << 20)

/* The fields have the names of the Rust text. */
struct tcp_d {
	u64 start, start_cwnd_q20, start_bw_q20, bw_q20;
	u32 fraction_q20, inc_q20, reduce_left, acked, dups, ack_limit, sent_limit, start_sent;
	u8 begun, avoiding, unused[6];
};

INLINE u64 q_q20(void) { return (settings.q_1000 << 20) / 1000; }

INLINE u64 cwnd_q20(const struct tcp_d *s, const struct window *w)
{
	return least(((u64)w->cwnd << 20) + s->fraction_q20, MOST_Q20);
}

INLINE void set_cwnd(struct tcp_d *s, struct window *w, u64 cwnd_q20)
{
	cwnd_q20 = between(cwnd_q20, ONE_Q20, MOST_Q20);
	w->cwnd = cwnd_q20 >> 20;
	s->fraction_q20 = cwnd_q20 % ONE_Q20;
}

/* Reduces the window by a share: CW (1 - q), and inc = 1 / CW. */
ENTRY void cut(struct tcp_d *s, struct window *w, u64 share_q20)
{
	u64 cwnd = cwnd_q20(s, w), taken = shr(mul(cwnd, share_q20), 20);

	set_cwnd(s, w, most(cwnd - taken, least(cwnd, 2 * ONE_Q20)));
	s->inc_q20 = ONE_Q20 * ONE_Q20 / cwnd_q20(s, w);
}

/* Starts an interval with the window at `cwnd` after `sent` segments. */
ENTRY void begin(struct tcp_d *s, u64 now, u64 cwnd, u32 sent)
{
	u32 limit = cwnd >> 20, k = settings.k;

	s->ack_limit = !k ? limit : settings.interval ? most(limit, k) : least(limit, k);
	s->sent_limit = narrow(over(mul(cwnd, settings.sent_1000), 1000 * ONE_Q20));
	s->begun = 1;
	s->start = now;
	s->start_sent = sent;
	s->acked = s->dups = 0;
	s->start_cwnd_q20 = cwnd;
	s->start_bw_q20 = s->bw_q20;
}

/* Ends the interval if it is over, and reduces the window if the rate fell. `extra` is the inflation in segments;
 * `stays`: the window stays inflated. */
ENTRY void sample(struct tcp_d *s, u64 now, struct window *w, u32 extra, int stays)
{
	u64 us = sat_sub(now, s->start) / 1000, arrived, end, inflated, dcw, db, q, epsilon = settings.epsilon_1000;
	int grown, risen;

	if (!(s->acked > s->ack_limit || w->sent - s->start_sent > s->sent_limit) || us == 0)
		return;
	/* Eq. 10.3 and 10.4. */
	arrived = least((u64)s->acked + s->dups, MANY);
	end = least(((arrived * 1000000) << 20) / us, MOST_Q20);
	s->bw_q20 = (epsilon * s->bw_q20 + (1000 - epsilon) * end) / 1000;

	inflated = cwnd_q20(s, w) + ((u64)extra << 20);
	grown = inflated > s->start_cwnd_q20;
	risen = s->bw_q20 > s->start_bw_q20;
	dcw = grown ? inflated - s->start_cwnd_q20 : s->start_cwnd_q20 - inflated;
	db = risen ? s->bw_q20 - s->start_bw_q20 : s->start_bw_q20 - s->bw_q20;
	if (dcw && db && (grown || settings.shrunk) && !(settings.xi_waits && s->reduce_left > 0) && grown != risen) {
		s->avoiding = 1;
		/* Eq. 10.5: q = CW |xi| / B. */
		q = quotient(shl(mul(cwnd_q20(s, w), db), 20), mul(dcw, most(s->bw_q20, 1)));
		if (settings.sign) {
			/* The printed form: CW (1 - q) with a negative q, which min(Q, q) does not limit. */
			set_cwnd(s, w, cwnd_q20(s, w) + least(shr(mul(cwnd_q20(s, w), q), 20), MOST_Q20));
			cut(s, w, 0);
		} else {
			cut(s, w, least(q, q_q20()));
		}
	}
	begin(s, now, cwnd_q20(s, w), w->sent);
	if (stays)
		s->start_cwnd_q20 += (u64)extra << 20;
}

ENTRY void tcp_d_start(struct tcp_d *s, const struct window *w) { s->inc_q20 = ONE_Q20; }

ENTRY void tcp_d_every_ack(struct tcp_d *s, u64 now, struct window *w, const struct ack *a)
{
	int recovering = w->state == RECOVERY;

	if (!s->begun)
		begin(s, sat_sub(now, (u64)(a->has_rtt ? a->rtt_us : 0) * 1000), cwnd_q20(s, w), s->start_sent);
	s->acked = narrow((u64)s->acked + a->acked);
	s->dups = narrow((u64)s->dups + !!a->dup);
	s->reduce_left = sat_sub(s->reduce_left, a->acked);
	/* on_ack is called neither for duplicates nor for acknowledgments in a recovery. */
	if (a->dup ? settings.check : (recovering && a->acked > 0))
		sample(s, now, w, recovering && settings.inflation ? w->extra : 0, a->dup);
}

ENTRY void tcp_d_on_ack(struct tcp_d *s, u64 now, struct window *w, const struct ack *a)
{
	u64 acked = least(a->acked, MANY), cwnd = cwnd_q20(s, w), more;

	if (w->limited || !settings.validated) {
		if (!s->avoiding)
			more = ((acked * settings.growth_1000) << 20) / 1000;
		else
			more = settings.increase ? (acked << 40) / cwnd : acked * s->inc_q20;
		set_cwnd(s, w, cwnd + more);
	}
	sample(s, now, w, 0, 0);
}

ENTRY void tcp_d_on_congestion(struct tcp_d *s, u64 now, const struct window *w, const struct signal *why,
			     struct response *r)
{
	struct window reduced = *w;

	if (why->why == TIMEOUT) {
		set_cwnd(s, &reduced, least(most(settings.timeout_window, 1), most(w->cwnd, 2)) << 20);
		s->avoiding = 0;
		s->reduce_left = 0;
		if (settings.forgets)
			s->bw_q20 = 0;
		begin(s, now, cwnd_q20(s, &reduced), w->sent);
	} else if (s->reduce_left == 0) {
		cut(s, &reduced, q_q20());
		if (settings.cold_ends)
			s->avoiding = 1;
		/* target_reduce: the highest acknowledged segment plus the reduced window. */
		s->reduce_left = (cwnd_q20(s, &reduced) + ONE_Q20 - 1) >> 20;
	}
	*r = response(w->ssthresh, reduced.cwnd);
}

ENTRY void tcp_d_on_restart(struct tcp_d *s, u64 now, struct window *w)
{
	/* A silence is not a fall of the rate. */
	begin(s, now, cwnd_q20(s, w), w->sent);
}
