/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * TCP Prague, as crates/contend-core/src/cc/prague.rs with prague/classic.rs: RFC 9331, Linux's tcp_prague.c 0.7. It
 * has full control: on_ack is called for every acknowledgment, and only the controller sets the window.
 */
#include "../cc.h"

struct prague_set {
	u64 g_shift;
	u64 target;
	u64 transition;
	u64 start; /* halve, one */
	u64 min_cwnd;
	u64 grow; /* one, queue */
	u64 independence; /* rate, none */
	u64 gate; /* round, mark */
	u64 step;
	u64 fallback; /* off, detect, act */
	u64 max_scaled_rtt;
	u64 wobble;
};
SETTINGS struct prague_set settings = {
	.g_shift = 4, .target = 25000000, .transition = 4, .min_cwnd = 2, .step = 1, .max_scaled_rtt = 100000000,
};
#define PRAGUE_UNLIMITED 1
/* The controller restores its own state when a reduction was not needed. */
#define ON_UNDO prague_on_undo

struct prague {
	/* The window; cwnd follows it. The window before the last loss, 0 if there is nothing to undo. */
	u64 frac_q20, loss_frac_q20;
	/* snd_nxt at the start of the period, and at the last reduction for marks. */
	u64 round_end, cwr_end;
	/* The smoothed share of marked segments times 2^g_shift. */
	u32 alpha_scaled_q24;
	/* Additive increase for each window of unmarked segments. */
	u32 ai_q20;
	/* Marks reported so far; this and the segments delivered at the start of the period. */
	u32 ce, old_ce, old_delivered;
	/* Times of the last update of alpha and of the last reduction for marks. */
	u32 alpha_at_us, cwr_at_us;
	/* The threshold before the last loss. */
	u32 loss_ssthresh;
	/* Round trips since slow start. */
	u32 rounds;
	/* The detector: smoothed round-trip time and its mean deviation in microseconds, and the score. */
	u32 srtt_q8, mdev_q9;
	s32 score_q20;
	/* Periods without a mark until `grow = "queue"` grows faster. */
	u16 wait;
	u8 saw_ce, in_loss, unused[4];
};
_Static_assert(sizeof(struct prague) <= 104, "ICSK_CA_PRIV_SIZE");

#define ONE_Q20 (1ull << 20)
#define ONE_Q24 (1ull << 24)
#define MOST_Q20 (0x7fffffffull << 20)
#define MOST_ACKED (1u << 23)
#define CLEAN_PERIODS 7
#define RATE_STEP 1920000
#define QUEUE_GROWTH_US 1000
#define MOST_WAIT 0xffff
/* The detector (prague/classic.rs). */
#define L4S_SCORE_Q20 (8ll << 20)
#define CLASSIC_SCORE_Q20 (9ll << 20)
#define MOST_SCORE_Q20 (17ll << 20)
#define SRTT_SHIFT 8
#define MDEV_SHIFT 9
#define LONGEST_US (1u << 22)
#define MDEV_US 750
#define DEPTH_US 2000

INLINE u32 g_shift(void) { return least(settings.g_shift, 7); }
INLINE u32 target_us(void) { return between(settings.target / 1000, 1, 1000000); }
INLINE u32 transition(void) { return least(settings.transition, 65535); }
/* a / b, rounded. */
INLINE u64 rounded(u64 a, u64 b) { return (a + b / 2) / b; }

/* The binary logarithm of x, which is not 0, in 2^-20, cut off. */
ENTRY u64 log2_q20(u32 x)
{
	u64 mantissa = x, bits = 31, bit, step;
	u32 i;

	/* To the left until its highest bit is bit 31. */
	for (step = 16; step; step >>= 1) {
		if (mantissa >> (32 - step))
			continue;
		mantissa <<= step;
		bits -= step;
	}
	for (i = 0; i < 20; i++) {
		mantissa = (mantissa * mantissa) >> 31;
		bit = mantissa >> 32;
		mantissa >>= bit & 1;
		bits = bits << 1 | bit;
	}
	return bits;
}

/* Half of the difference of two numbers, without its sign rounded down. */
INLINE s64 half_difference(u64 a, u64 b) { return a < b ? -(s64)((b - a) / 2) : (s64)((a - b) / 2); }

INLINE void detector_sample(struct prague *s, u32 rtt)
{
	u32 smooth = s->srtt_q8 >> SRTT_SHIFT;

	rtt = between(rtt, 1, LONGEST_US);
	if (!s->srtt_q8) {
		s->srtt_q8 = rtt << SRTT_SHIFT;
		s->mdev_q9 = 1 << MDEV_SHIFT;
		return;
	}
	s->srtt_q8 = most(s->srtt_q8 - smooth + rtt, 1);
	s->mdev_q9 = s->mdev_q9 - (s->mdev_q9 >> MDEV_SHIFT) + (rtt > smooth ? rtt - smooth : smooth - rtt);
}

INLINE void detector_end_period(struct prague *s, u32 min_us)
{
	u32 depth = most(sat_sub(s->srtt_q8 >> SRTT_SHIFT, min_us), DEPTH_US);
	s64 score;

	if (!s->srtt_q8 || !min_us)
		return;
	score = s->score_q20 + half_difference(log2_q20(most(s->mdev_q9, 1)), log2_q20(MDEV_US << MDEV_SHIFT)) +
		half_difference(log2_q20(depth), log2_q20(DEPTH_US));
	s->score_q20 = score < 0 ? 0 : score > MOST_SCORE_Q20 ? MOST_SCORE_Q20 : score;
}

/* The smallest alpha that the score permits. */
INLINE u64 detector_least_alpha_q24(const struct prague *s)
{
	u64 score = s->score_q20 < 0 ? 0 : s->score_q20;

	return ((between(score, L4S_SCORE_Q20, CLASSIC_SCORE_Q20) - L4S_SCORE_Q20) << 4) / 8 * 5;
}

/* The flow behaves as if its round-trip time were at least the target. */
INLINE int prague_independent(const struct prague *s, const struct window *w)
{
	return !settings.independence && w->cwnd >= w->ssthresh && s->rounds >= transition();
}

/* The target has passed since `then`, or the flow does not follow it. */
INLINE int target_has_passed(const struct prague *s, u32 now_us, u32 then_us, const struct window *w)
{
	return !prague_independent(s, w) || now_us - then_us >= target_us();
}

/* The whole window that belongs to frac_q20. */
INLINE u32 prague_wanted(const struct prague *s)
{
	u32 whole = (s->frac_q20 >> 20) + !!(s->frac_q20 & (ONE_Q20 - 1));

	return most(whole, between(settings.min_cwnd, 2, 1000));
}

/* Takes alpha / 2 of the window for marks, unless the last reduction is too recent. */
INLINE void prague_reduce(struct prague *s, u32 now_us, const struct window *w)
{
	u64 alpha_q24 = s->alpha_scaled_q24 >> g_shift();
	struct wide less;

	if (!target_has_passed(s, now_us, s->cwr_at_us, w))
		return;
	s->cwr_at_us = now_us;
	s->cwr_end = w->snd_nxt;
	if (settings.fallback == 2)
		alpha_q24 = most(alpha_q24, detector_least_alpha_q24(s));
	less = mul(alpha_q24, s->frac_q20);
	less.lo += ONE_Q24;
	less.hi += less.lo < ONE_Q24;
	s->frac_q20 -= least(s->frac_q20, shr(less, 25));
}

/* Half of the window was in flight before the acknowledgment. */
INLINE int prague_used(const struct window *w, const struct ack *a)
{
	return 2 * ((u64)w->inflight + a->delivered) >= w->cwnd;
}

/* Opens the window for n unmarked segments. */
INLINE void prague_increase(struct prague *s, struct window *w, u32 srtt_us, u32 n)
{
	u64 scaled, more;

	if (w->cwnd < w->ssthresh && w->cwnd <= prague_wanted(s)) {
		n = slow_start(w, n, U32_MAX);
		s->frac_q20 = least((u64)w->cwnd << 20, MOST_Q20);
	}
	scaled = (u64)n * s->ai_q20;
	more = rounded(scaled << 20, most(s->frac_q20, ONE_Q20));
	if (settings.grow && !s->wait && srtt_us)
		more = most(more, rounded(scaled * QUEUE_GROWTH_US, srtt_us));
	s->frac_q20 = least(s->frac_q20 + most(more, n), MOST_Q20);
}

/* Moves the window towards the one that is wanted. */
INLINE void prague_follow(struct prague *s, struct window *w)
{
	u32 wanted = prague_wanted(s);
	int one = settings.step || w->state == LOSS;

	if (w->cwnd > wanted) {
		w->cwnd = one ? w->cwnd - 1 : wanted;
		w->ssthresh = w->cwnd;
	} else if (w->cwnd < wanted) {
		w->cwnd = one ? w->cwnd + 1 : wanted;
	}
}

INLINE void prague_start_period(struct prague *s, const struct window *w)
{
	s->round_end = w->snd_nxt;
	s->old_ce = s->ce;
	s->old_delivered = w->delivered;
}

/* Ends a period: updates alpha, and counts the round trip. */
INLINE void prague_end_period(struct prague *s, u32 now_us, const struct window *w, const struct ack *a)
{
	u32 marked = s->ce - s->old_ce;
	u64 alpha = s->alpha_scaled_q24;

	if (s->saw_ce) {
		alpha = alpha - (alpha >> g_shift()) + ((u64)marked << 24) / most(w->delivered - s->old_delivered, 1);
		s->alpha_scaled_q24 = least(alpha, ONE_Q24 << g_shift());
		s->alpha_at_us = now_us;
		if (settings.fallback)
			detector_end_period(s, a->min_rtt_us);
	}
	s->wait = marked ? least(w->pacing_rate / RATE_STEP + CLEAN_PERIODS, MOST_WAIT) : sat_sub(s->wait, 1);
	prague_start_period(s, w);
	if (w->cwnd >= w->ssthresh)
		s->rounds = s->rounds == U32_MAX ? transition() : s->rounds + 1;
}

/* The increase for a window of unmarked segments. */
INLINE u32 prague_additive_increase(const struct prague *s, u32 srtt_us)
{
	u64 r = srtt_us, t = target_us();
	int scaled = !settings.independence && s->rounds >= transition() && r > 0 && r < t;

	return scaled && r <= settings.max_scaled_rtt / 1000 ? rounded(r * r * ONE_Q20, t * t) : ONE_Q20;
}

/* Halves the window for a loss. */
INLINE void prague_lose(struct prague *s, const struct window *w, u32 srtt_us)
{
	u64 t = target_us(), segments = w->pacing_rate / 2 / most(w->mss, 1);

	s->loss_frac_q20 = s->frac_q20;
	s->loss_ssthresh = w->ssthresh;
	s->frac_q20 -= s->frac_q20 >> 1;
	s->in_loss = 1;
	s->wait = most(s->wait, least(sat_mul(segments, t * t / most(srtt_us, t)) / 1000000, MOST_WAIT));
}

/* Paces at one window for each round trip; twice as fast in the first half of slow start. */
INLINE void prague_pace(struct prague *s, u32 now_us, struct window *w, u32 srtt_us)
{
	u64 segments, rate, offset;

	if (!srtt_us)
		return;
	/* Many marks leave less than a segment of the window, of which min_cwnd may be sent all the same. */
	segments = most(w->inflight, least(w->cwnd, between(settings.min_cwnd, 2, 1000)));
	segments = most(segments, s->frac_q20 >> 20);
	rate = sat_mul(segments * w->mss, 1000000) / srtt_us;
	if (w->cwnd < w->ssthresh / 2)
		rate = sat_mul(rate, 2);
	if (settings.wobble && prague_independent(s, w)) {
		offset = (rate >> 7) * least(settings.wobble, 64);
		if (now_us - s->alpha_at_us < most(srtt_us, target_us()) / 2)
			rate = sat_add(rate, offset);
		else
			rate -= offset;
	}
	/* 0 would mean no pacing. */
	w->pacing_rate = most(rate, 1);
}

ENTRY void prague_start(struct prague *s, const struct window *w)
{
	s->alpha_scaled_q24 = settings.start ? ONE_Q24 << g_shift() : 0;
	s->ai_q20 = ONE_Q20;
	s->wait = CLEAN_PERIODS;
	s->frac_q20 = (u64)w->cwnd << 20;
	prague_start_period(s, w);
}

ENTRY void prague_on_restart(struct prague *s, u64 now, struct window *w) {}

ENTRY void prague_every_ack(struct prague *s, u64 now, struct window *w, const struct ack *a)
{
	s->ce += a->ce;
	if (settings.fallback && a->has_rtt)
		detector_sample(s, a->rtt_us);
}

ENTRY void prague_on_ack(struct prague *s, u64 now, struct window *w, const struct ack *a)
{
	u32 now_us = now / 1000, before = w->cwnd, unmarked;
	int ends;

	if (w->state == OPEN)
		s->in_loss = 0;
	if (a->ce) {
		if (settings.gate && w->snd_una >= s->cwr_end)
			prague_reduce(s, now_us, w);
		if (!s->saw_ce && !settings.start)
			s->frac_q20 = (s->frac_q20 + 1) >> 1;
		s->saw_ce = 1;
	}
	unmarked = least(sat_sub(a->delivered, a->ce), MOST_ACKED);
	if (unmarked && !s->in_loss && !a->app_limited && prague_used(w, a))
		prague_increase(s, w, a->srtt_us, unmarked);
	prague_follow(s, w);
	ends = w->snd_una >= s->round_end && target_has_passed(s, now_us, s->alpha_at_us, w);
	if (ends)
		prague_end_period(s, now_us, w, a);
	if (ends || w->cwnd != before)
		s->ai_q20 = prague_additive_increase(s, a->srtt_us);
	prague_pace(s, now_us, w, a->srtt_us);
}

ENTRY void prague_on_congestion(struct prague *s, u64 now, const struct window *w, const struct signal *why,
				struct response *r)
{
	u32 now_us = now / 1000;

	/* The window follows with the acknowledgments. */
	*r = keep(w);
	if (why->why == ECN) {
		/* With the other gate, on_ack decides. */
		if (!settings.gate)
			prague_reduce(s, now_us, w);
	} else if (why->why == LOCAL) {
		if (w->snd_una >= s->cwr_end)
			prague_reduce(s, now_us, w);
	} else if (why->why == LOST) {
		prague_lose(s, w, why->srtt_us);
	} else if (why->nth <= 1) {
		prague_lose(s, w, why->srtt_us);
		*r = restart_from(s->frac_q20 >> 20);
	} else {
		/* RFC 5681 §3.1: the threshold is kept if the same segment times out again. */
		r->cwnd = 1;
	}
}

ENTRY void prague_on_undo(struct prague *s, struct window *w)
{
	s->in_loss = 0;
	if (!s->loss_frac_q20)
		return;
	s->frac_q20 = most(s->frac_q20, s->loss_frac_q20);
	s->loss_frac_q20 = 0;
	w->cwnd = most(w->cwnd, prague_wanted(s));
	w->ssthresh = most(w->ssthresh, s->loss_ssthresh);
}
