/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * What a congestion controller gets and answers, as in crates/contend-core/src/window.rs and cc/mod.rs: windows in
 * segments, times in microseconds, rates in bytes per second. The same text is compiled for the kernel and for the
 * host.
 *
 * A controller NAME is cc/NAME.h: `settings`, its parameters in the order of PARAMS (a word by its place in the list, a
 * flag as 0 or 1, a time in ns, a rate in bit/s); struct NAME, its state; and NAME_start, NAME_every_ack, NAME_on_ack,
 * NAME_on_congestion, NAME_on_restart, and, if it has them, its function for the end of a recovery as ON_RECOVERED and
 * that for a reduction that was not needed as ON_UNDO. The defaults are those of the registry, but for `abc`: as in
 * Linux there is no limit.
 */
#ifndef CONTEND_CC_H
#define CONTEND_CC_H

#include "arith.h"

/* In the kernel the parameters stand in read-only memory that is filled before the program is loaded. */
#ifdef __bpf__
#define SETTINGS __attribute__((section(".rodata.settings"), used)) const volatile
#else
#define SETTINGS static
#endif
/* A function that the verifier looks at by itself, not repeated in each caller. It has at most 5 arguments. */
#define ENTRY static __attribute__((noinline, unused))

enum state { OPEN, DISORDER, CWR, RECOVERY, LOSS };
enum why { LOST, TIMEOUT, ECN, LOCAL };

struct window {
	u32 cwnd, cwnd_cnt, ssthresh;
	u32 extra, inflight, delivered, sent, reduce_from, rwnd, mss;
	u32 tick_ns; /* the tick of the peer's timestamps; 0: none */
	u8 limited, state, unused[2];
	u64 pacing_rate; /* 0: none */
	u64 snd_una, snd_nxt;
};

struct ack {
	u32 acked, delivered, sacked;
	u32 rtt_us, srtt_us, rttvar_us, min_rtt_us;
	u32 tsval;
	u32 ce; /* segments newly reported as marked */
	u8 dup, ece, has_rtt, has_tsval, app_limited, unused[7];
};

struct signal {
	u32 why, nth;
	u32 srtt_us; /* of the acknowledgment that shows the signal; 0: none */
	u8 marked, unused[3];
};

struct response {
	u32 ssthresh, cwnd;
	u32 error; /* 1: the controller takes the loss for an error of the medium */
	u32 unused;
};

INLINE struct response response(u32 ssthresh, u32 cwnd)
{
	struct response r = { ssthresh, cwnd, 0, 0 };
	return r;
}

/* Response::clamp, ::restart and ::keep. */
INLINE struct response clamp_to(u32 n, const struct window *w)
{
	n = most(n, 2);
	return response(n, least(n, most(w->cwnd, 2)));
}
INLINE struct response restart_from(u32 n) { return response(most(n, 2), 1); }
INLINE struct response keep(const struct window *w) { return response(w->ssthresh, w->cwnd); }

/* The limit of slow start by its parameter `abc`; 0: none. */
INLINE u32 abc_limit(u64 abc) { return abc ? narrow(abc) : U32_MAX; }

/* RFC 5681 §3.1 eq. 2, where at most `abc` segments count. Returns those left for congestion avoidance. */
INLINE u32 slow_start(struct window *w, u32 acked, u32 abc)
{
	u32 counted = least(acked, abc), grown, used;

	if (w->cwnd >= w->ssthresh)
		return acked;
	grown = least(narrow((u64)w->cwnd + counted), w->ssthresh);
	used = grown - w->cwnd;
	w->cwnd = grown;
	/* Segments above the limit do not count later either. */
	return acked > abc ? 0 : counted - used;
}

/* The window grows by one segment for each `per` acknowledged ones. */
INLINE void additive_increase(struct window *w, u32 per, u32 acked)
{
	u32 steps;

	per = most(per, 1);
	w->cwnd_cnt = narrow((u64)w->cwnd_cnt + acked);
	if (w->cwnd_cnt < per)
		return;
	steps = w->cwnd_cnt / per;
	w->cwnd_cnt -= steps * per;
	w->cwnd = narrow((u64)w->cwnd + steps);
}

/* Reno's growth and answer, for every controller that contains Reno. */
INLINE void reno_grow(struct window *w, u32 acked, u32 abc)
{
	acked = slow_start(w, acked, abc);
	if (acked > 0)
		additive_increase(w, w->cwnd, acked);
}

INLINE struct response reno_answer(const struct window *w, const struct signal *s)
{
	/* RFC 5681 §3.1 eq. 4. */
	u32 half = w->reduce_from / 2;

	if (s->why != TIMEOUT)
		return clamp_to(half, w);
	/* RFC 5681 §3.1: the threshold is kept if the same segment times out again. */
	return s->nth <= 1 ? restart_from(half) : response(w->ssthresh, 1);
}

#endif
