/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * TCP-AV, as crates/contend-core/src/cc/tcp_av.rs: our reading of Arai et al. 2008. What is retransmitted, and when, is
 * the kernel's: it repeats no lost retransmission more often than for others, and doubles every timeout.
 */
#include "../cc.h"

struct tcp_av_set {
	u64 rate;
	u64 headroom_1024;
	u64 kappa;
	u64 cushion;
	u64 most;
	u64 catch_up;
	u64 faster_1024;
	u64 losses;
	u64 within;
	u64 hold;
	u64 probe; /* hold, reno */
	u64 pace;
	u64 abc;
};
SETTINGS struct tcp_av_set settings = {
	.rate = 10000000,
	.headroom_1024 = 1126,
	.kappa = 16,
	.cushion = 500000000,
	.most = 2000000000,
	.catch_up = 2000000000,
	.faster_1024 = 1280,
	.losses = 3,
	.within = 3,
	.hold = 2000000000,
	.abc = 0,
};
#define TCP_AV_UNLIMITED 0
/* The rate of one connection may differ: bytes of payload per second. */
#define TCP_AV_RATE(s) ((s)->rate)

#define LOSSES 8
#define NEVER U64_MAX

/* 208 bytes, more than the 104 of a kernel controller's private data: the state lies in storage of the socket. */
struct tcp_av {
	u64 rate;
	s64 buffer_q10;
	u64 last, reno_until, srtt_us, min_rtt_us;
	struct {
		u64 at;
		u32 delivered, unused;
	} recent[LOSSES];
};

/* What is sent in `us` at `rate` bytes per second, in 2^-10 segments. */
INLINE u64 segments_q10(u64 rate, u64 us, const struct window *w)
{
	return least(over(shl(mul(rate, us), 10), 1000000 * most(w->mss, 1)), 1ull << 40);
}

INLINE u64 aim(const struct tcp_av *s) { return s->rate * settings.headroom_1024 / 1024; }
INLINE int is_reno(const struct tcp_av *s, u64 now) { return s->rate == 0 || now < s->reno_until; }

INLINE s64 cushion_q10(const struct tcp_av *s, const struct window *w)
{
	return segments_q10(s->rate, settings.cushion / 1000, w);
}

/* The window that the rate needs; with `catch_up` more while the cushion is not full. In segments. */
INLINE u32 target(const struct tcp_av *s, const struct window *w, int catch_up)
{
	u64 goal = aim(s), rtt = least(s->srtt_us, settings.kappa * s->min_rtt_us), rate = goal;
	s64 missing = cushion_q10(s, w) - s->buffer_q10;

	if (catch_up) {
		u64 bytes_q10 = missing > 0 ? (u64)missing * w->mss : 0;

		rate = sat_add(goal, over(mul(bytes_q10, 1000000), 1024 * most(settings.catch_up / 1000, 1)));
		rate = least(rate, goal * settings.faster_1024 / 1024);
	}
	return narrow(segments_q10(rate, rtt, w) / 1024);
}

/* The guard: so many losses within a few round trips while less than half of R arrived. */
INLINE int collapses(struct tcp_av *s, u64 now, const struct window *w)
{
	u64 losses = least(settings.losses, LOSSES), passed, first;
	u32 delivered;
	int i;

	if (!losses)
		return 0;
	for (i = LOSSES - 1; i > 0; i--)
		s->recent[i] = s->recent[i - 1];
	s->recent[0].at = now;
	s->recent[0].delivered = w->delivered;
	first = s->recent[losses - 1].at;
	delivered = s->recent[losses - 1].delivered;
	passed = sat_sub(now, first) / 1000;
	if (first == NEVER || passed > settings.within * s->srtt_us)
		return 0;
	return 2 * ((u64)(w->delivered - delivered) * 1024) < segments_q10(s->rate, passed, w);
}

ENTRY void tcp_av_start(struct tcp_av *s, const struct window *w)
{
	int i;

	s->rate = settings.rate / 8;
	s->last = NEVER;
	for (i = 0; i < LOSSES; i++)
		s->recent[i].at = NEVER;
}

ENTRY void tcp_av_on_restart(struct tcp_av *s, u64 now, struct window *w) {}

ENTRY void tcp_av_every_ack(struct tcp_av *s, u64 now, struct window *w, const struct ack *a)
{
	u64 passed = s->last == NEVER ? 0 : sat_sub(now, s->last) / 1000;
	s64 bound = segments_q10(s->rate, settings.most / 1000, w), played = segments_q10(s->rate, passed, w), buffer;

	s->srtt_us = a->srtt_us;
	s->min_rtt_us = a->min_rtt_us;
	if (settings.pace)
		w->pacing_rate = aim(s) * settings.faster_1024 / 1024;
	s->last = now;
	buffer = s->buffer_q10 + (s64)a->acked * 1024 - played;
	s->buffer_q10 = buffer < -bound ? -bound : buffer > bound ? bound : buffer;
}

ENTRY void tcp_av_on_ack(struct tcp_av *s, u64 now, struct window *w, const struct ack *a)
{
	u32 acked = slow_start(w, a->acked, abc_limit(settings.abc)), goal;

	if (!acked)
		return;
	goal = target(s, w, 1);
	if (is_reno(s, now))
		additive_increase(w, w->cwnd, acked);
	else if (w->cwnd < goal)
		/* A quarter of what is missing in each round trip, at least Reno's pace and at most slow start's. */
		additive_increase(w, most(w->cwnd / most((goal - w->cwnd) / 4, 1), 1), acked);
	else if (settings.probe || s->buffer_q10 < cushion_q10(s, w))
		additive_increase(w, w->cwnd, acked);
}

ENTRY void tcp_av_on_congestion(struct tcp_av *s, u64 now, const struct window *w, const struct signal *why,
				struct response *r)
{
	u32 need;

	if ((why->why == LOST || why->why == TIMEOUT) && collapses(s, now, w))
		s->reno_until = sat_add(now, settings.hold);
	need = is_reno(s, now) ? 0 : target(s, w, 0);
	if (why->why == LOCAL && need > 0)
		/* A drop of the own queue says nothing about the path. */
		*r = response(w->ssthresh, between(w->inflight, 2, most(w->cwnd, 2)));
	else if (why->why == LOCAL)
		*r = clamp_to(w->cwnd / 2, w);
	else if (why->why != TIMEOUT)
		*r = clamp_to(most(w->cwnd / 2, least(need, w->cwnd)), w);
	else if (why->nth > 1)
		*r = response(w->ssthresh, 1);
	else
		*r = restart_from(most(w->cwnd / 2, least(need, w->rwnd)));
}
