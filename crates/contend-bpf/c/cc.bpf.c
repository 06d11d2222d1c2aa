// SPDX-License-Identifier: GPL-2.0-only
/*
 * The congestion controller cc/CC.h in the kernel, where CC is given to the compiler. It is registered as NAMED, the
 * first 15 letters of contend_CC, and `step` runs the same arithmetic over steps that a test gives.
 *
 * - Linux asks for a threshold (ssthresh) before it says why (set_state). The answer is made when both are known.
 * - In a recovery Linux moves the window to the threshold. So the threshold is the answer's window until the recovery
 *   ends (set_state), and the answer's threshold from then on. When Linux takes the reduction back, so does this.
 * - After a timeout the window is the answer's, and never below one segment beyond what is in flight.
 * - Linux halves the window, not what is in flight: `reduce_from` is the window.
 *
 * With FULL_CONTROL the controller is Linux's cong_control: it is called for every acknowledgment, only it sets window
 * and pacing rate, and a loss in a window with a mark is a signal too. FLAGS are those of the registration.
 */
#include "kernel.h"
#include HEADER

#define PASTE2(a, b) a##b
#define PASTE(a, b) PASTE2(a, b)
#define TEXT2(a) #a
#define TEXT(a) TEXT2(a)
/* NAME_every_ack and so on, and NAME_UNLIMITED. */
#define DO(what) PASTE(CC, what)
#define OF(what) PASTE(UPPER, what)

char LICENSE[] SEC("license") = "GPL";

/* The tick of the peer's timestamps: 1 ms for Linux. */
const volatile u32 tick_ns = 1000000;

/* Counts of this controller: acknowledgments, calls that may open the window, congestion signals. */
struct calls {
	u64 acks, growths, signals;
};
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct calls);
} PASTE(calls_, CC) SEC(".maps");

#ifdef WITH_RATES
/* The rate of single connections in bit/s, by socket cookie. Others have the rate of the settings. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, u64);
	__type(value, u64);
} PASTE(rates_, CC) SEC(".maps");
#endif

/* What is kept for a connection. */
struct flow {
	struct CC cc;
	/* Segments delivered at the last acknowledgment. */
	u32 delivered;
	/* The answer's threshold, which counts from the end of the recovery. */
	u32 ssthresh;
	u64 pacing_rate;
#ifdef FULL_CONTROL
	/* The first unacknowledged byte, without wrapping, and the marks reported at the last acknowledgment. */
	u64 snd_una;
	u32 delivered_ce;
#endif
	/* The last acknowledgment echoed a mark; Linux asked for a threshold; `ssthresh` waits. */
	u8 marked, asked, waits;
};
struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct flow);
} PASTE(flow_, CC) SEC(".maps");

#define CA_ACK_ECE 4
#define TCP_ECN_MODE_ACCECN 16

static struct flow *flow_of(struct sock *sk) { return bpf_sk_storage_get(&PASTE(flow_, CC), sk, 0, 0); }

static struct calls *calls(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&PASTE(calls_, CC), &zero);
}
#define COUNT(what)                                              \
	do {                                                      \
		struct calls *c = calls();                         \
		if (c)                                             \
			__sync_fetch_and_add(&c->what, 1);          \
	} while (0)

INLINE u64 now_ns(const struct tcp_sock *tp) { return tp->tcp_mstamp * 1000; }

INLINE u32 in_flight(const struct tcp_sock *tp)
{
	return tp->packets_out - (tp->sacked_out + tp->lost_out) + tp->retrans_out;
}

INLINE int has_timestamps(struct tcp_sock *tp)
{
	struct tcp_options_received *options = &tp->rx_opt;

	/* Otherwise the offset would be that in tcp_sock. */
	asm volatile("" : "+r"(options));
	return BPF_CORE_READ_BITFIELD(options, tstamp_ok);
}

/* The sender's state; `cwnd` is the window that counts. */
INLINE struct window window_of(struct tcp_sock *tp, u32 cwnd)
{
	struct window w = {
		.cwnd = cwnd,
		.cwnd_cnt = tp->snd_cwnd_cnt,
		.ssthresh = tp->snd_ssthresh,
		.inflight = in_flight(tp),
		.delivered = tp->delivered,
		.sent = tp->data_segs_out,
		.reduce_from = cwnd,
		.mss = tp->mss_cache,
		.tick_ns = has_timestamps(tp) ? tick_ns : 0,
		.state = BPF_CORE_READ_BITFIELD((struct inet_connection_sock *)tp, icsk_ca_state),
	};

	w.rwnd = tp->snd_wnd / most(w.mss, 1);
	/* tcp_is_cwnd_limited */
	if (cwnd < w.ssthresh)
		w.limited = cwnd < 2 * tp->max_packets_out;
	else
		w.limited = BPF_CORE_READ_BITFIELD(tp, is_cwnd_limited);
	return w;
}

INLINE void paths(struct tcp_sock *tp, struct ack *a)
{
	a->srtt_us = tp->srtt_us >> 3;
	a->rttvar_us = tp->mdev_us >> 2;
	/* All bits are set before the first sample. */
	a->min_rtt_us = tp->rtt_min.s[0].v == U32_MAX ? 0 : tp->rtt_min.s[0].v;
}

#ifdef WITH_RATES
INLINE void choose_rate(struct sock *sk, struct flow *f)
{
	u64 cookie = sk->__sk_common.skc_cookie.counter, *rate;

	rate = cookie ? bpf_map_lookup_elem(&PASTE(rates_, CC), &cookie) : 0;
	if (rate)
		OF(_RATE)(&f->cc) = *rate / 8;
}
#else
INLINE void choose_rate(struct sock *sk, struct flow *f) {}
#endif

INLINE void pace(struct sock *sk, struct flow *f, u64 rate)
{
	int level = 1 /* SOL_SOCKET */, name = 47 /* SO_MAX_PACING_RATE */;

	if (rate == f->pacing_rate)
		return;
	f->pacing_rate = rate;
	bpf_setsockopt(sk, level, name, &rate, sizeof(rate));
}

#ifdef FULL_CONTROL
#define SK_PACING_NONE 0
#define SK_PACING_NEEDED 1

/* What only a controller with full control reads. */
INLINE void positions(struct tcp_sock *tp, struct flow *f, struct window *w)
{
	f->snd_una += (u32)(tp->snd_una - (u32)f->snd_una);
	w->snd_una = f->snd_una;
	w->snd_nxt = f->snd_una + (u32)(tp->snd_nxt - tp->snd_una);
	w->pacing_rate = f->pacing_rate;
}
#endif

SEC("struct_ops")
void BPF_PROG(start, struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct flow *f = bpf_sk_storage_get(&PASTE(flow_, CC), sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	struct window w;

	if (!f)
		return;
	__builtin_memset(f, 0, sizeof(*f));
	f->delivered = tp->delivered;
	w = window_of(tp, tp->snd_cwnd);
#ifdef FULL_CONTROL
	f->delivered_ce = tp->delivered_ce;
	positions(tp, f, &w);
	if (sk->sk_pacing_status == SK_PACING_NONE)
		sk->sk_pacing_status = SK_PACING_NEEDED;
#endif
	DO(_start)(&f->cc, &w);
}

#ifndef FULL_CONTROL
SEC("struct_ops")
void BPF_PROG(acked, struct sock *sk, const struct ack_sample *sample)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct flow *f = flow_of(sk);
	struct window w;
	struct ack a = {};
	s32 rtt;

	if (!f)
		return;
	COUNT(acks);
	rtt = sample->rtt_us;
	a.acked = sample->pkts_acked;
	a.delivered = tp->delivered - f->delivered;
	a.sacked = a.delivered > a.acked ? a.delivered - a.acked : 0;
	a.dup = !a.acked && a.delivered;
	a.has_rtt = rtt >= 0;
	a.rtt_us = a.has_rtt ? rtt : 0;
	a.has_tsval = has_timestamps(tp);
	a.tsval = tp->rx_opt.rcv_tsval;
	paths(tp, &a);
	f->delivered = tp->delivered;
	choose_rate(sk, f);
	w = window_of(tp, tp->snd_cwnd);
	DO(_every_ack)(&f->cc, now_ns(tp), &w, &a);
	if (w.cwnd != tp->snd_cwnd && w.state <= DISORDER)
		tp->snd_cwnd = least(w.cwnd, tp->snd_cwnd_clamp);
	pace(sk, f, w.pacing_rate);
}

#else
SEC("struct_ops")
void BPF_PROG(control, struct sock *sk, u32 ack, int flag, const struct rate_sample *rs)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct flow *f = flow_of(sk);
	struct window w;
	struct ack a = {};
	long rtt;

	/* Without state (no memory when the connection opened) the window stays small. */
	if (!f) {
		tp->snd_cwnd = least(tp->snd_cwnd, 2);
		return;
	}
	COUNT(acks);
	rtt = rs->rtt_us;
	a.acked = rs->acked_sacked;
	a.delivered = tp->delivered - f->delivered;
	a.has_rtt = rtt >= 0;
	a.rtt_us = a.has_rtt ? narrow(rtt) : 0;
	/* Without accurate ECN a mark is answered like a loss (changes). */
	if (tp->ecn_flags & TCP_ECN_MODE_ACCECN)
		a.ce = tp->delivered_ce - f->delivered_ce;
	a.app_limited = rs->is_app_limited;
	paths(tp, &a);
	f->delivered = tp->delivered;
	f->delivered_ce = tp->delivered_ce;
	w = window_of(tp, tp->snd_cwnd);
	positions(tp, f, &w);
	if (a.delivered > a.ce && !a.app_limited)
		COUNT(growths);
	DO(_every_ack)(&f->cc, now_ns(tp), &w, &a);
	DO(_on_ack)(&f->cc, now_ns(tp), &w, &a);
	tp->snd_ssthresh = w.ssthresh;
	tp->snd_cwnd = least(w.cwnd, tp->snd_cwnd_clamp);
	f->pacing_rate = w.pacing_rate;
	if (w.pacing_rate)
		sk->sk_pacing_rate = least(w.pacing_rate, sk->sk_max_pacing_rate);
}

/* The pacer sends single segments if the rate is low. */
SEC("struct_ops")
u32 BPF_PROG(least_burst, struct sock *sk) { return 1; }
#endif

SEC("struct_ops")
void BPF_PROG(ack_event, struct sock *sk, u32 flags)
{
	struct flow *f = flow_of(sk);

	if (f)
		f->marked = !!(flags & CA_ACK_ECE);
}

#ifndef FULL_CONTROL
SEC("struct_ops")
void BPF_PROG(grow, struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct flow *f = flow_of(sk);
	struct window w = window_of(tp, tp->snd_cwnd);
	struct ack a = { .acked = acked };

	if (!f || (!w.limited && !OF(_UNLIMITED)))
		return;
	COUNT(growths);
	paths(tp, &a);
	DO(_on_ack)(&f->cc, now_ns(tp), &w, &a);
	tp->snd_cwnd_cnt = w.cwnd_cnt;
	tp->snd_cwnd = least(w.cwnd, tp->snd_cwnd_clamp);
}
#endif

SEC("struct_ops")
u32 BPF_PROG(threshold, struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct flow *f = flow_of(sk);

	/* Without state (no memory when the connection opened) this is Reno. */
	if (!f)
		return most(tp->snd_cwnd / 2, 2);
	/* What Linux gets here is preliminary: `changes` sets the threshold. */
	if (!f->waits)
		f->ssthresh = tp->snd_ssthresh;
	f->asked = 1;
#ifdef FULL_CONTROL
	return tp->snd_ssthresh;
#else
	return most(tp->snd_cwnd, 2);
#endif
}

SEC("struct_ops")
void BPF_PROG(changes, struct sock *sk, u8 to)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct flow *f = flow_of(sk);
	struct signal s = { .nth = 1 };
	struct response r;
	struct window w;
	u32 before;

	if (!f)
		return;
	if (to <= DISORDER && f->waits) {
		tp->snd_ssthresh = f->ssthresh;
		f->waits = 0;
#ifdef ON_RECOVERED
		w = window_of(tp, tp->snd_cwnd);
		ON_RECOVERED(&f->cc, now_ns(tp), &w);
		tp->snd_ssthresh = w.ssthresh;
		tp->snd_cwnd = least(w.cwnd, tp->snd_cwnd_clamp);
#endif
	}
#ifdef FULL_CONTROL
	/* Linux does not ask again if a recovery follows a mark in the same window of data. */
	if (to == RECOVERY)
		f->asked = 1;
#endif
	if (to <= DISORDER || !f->asked)
		return;
	COUNT(signals);
	f->asked = 0;
	before = to == LOSS ? tp->prior_cwnd : tp->snd_cwnd;
	w = window_of(tp, before);
	w.ssthresh = f->ssthresh;
	s.marked = f->marked;
	s.why = to == LOSS ? TIMEOUT : to == RECOVERY ? LOST : f->marked ? ECN : LOCAL;
#ifdef FULL_CONTROL
	positions(tp, f, &w);
	s.srtt_us = to == LOSS ? 0 : tp->srtt_us >> 3;
	if (s.why == ECN && !(tp->ecn_flags & TCP_ECN_MODE_ACCECN))
		s.why = LOST;
#endif
	DO(_on_congestion)(&f->cc, now_ns(tp), &w, &s, &r);
	if (!r.error)
		tp->snd_cwnd_cnt = 0;
	if (to == LOSS) {
		tp->snd_ssthresh = r.ssthresh;
		tp->snd_cwnd = least(most(r.cwnd, in_flight(tp) + 1), tp->snd_cwnd_clamp);
		f->waits = 0;
#ifdef FULL_CONTROL
	} else {
		tp->snd_ssthresh = r.ssthresh;
	}
#else
	} else {
		tp->snd_ssthresh = most(r.cwnd, 2);
		f->ssthresh = r.ssthresh;
		f->waits = 1;
	}
#endif
}

SEC("struct_ops")
void BPF_PROG(event, struct sock *sk, u32 what)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct flow *f = flow_of(sk);
	struct window w;

	/* Sending begins again after a silence longer than the timeout. */
	if (!f || what != CA_EVENT_TX_START || (u32)bpf_jiffies64() - tp->lsndtime <= tp->inet_conn.icsk_rto)
		return;
	w = window_of(tp, tp->snd_cwnd);
	if (w.state == OPEN)
		DO(_on_restart)(&f->cc, now_ns(tp), &w);
}

SEC("struct_ops")
u32 BPF_PROG(undo, struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct flow *f = flow_of(sk);

	if (f)
		f->waits = 0;
#ifdef ON_UNDO
	if (f) {
		struct window w = window_of(tp, tp->snd_cwnd);

		ON_UNDO(&f->cc, &w);
		tp->snd_ssthresh = w.ssthresh;
		return w.cwnd;
	}
#endif
	return most(tp->snd_cwnd, tp->prior_cwnd);
}

SEC(".struct_ops.link")
struct tcp_congestion_ops PASTE(contend_, CC) = {
	.init = (void *)start,
	.in_ack_event = (void *)ack_event,
#ifdef FULL_CONTROL
	.cong_control = (void *)control,
	.min_tso_segs = (void *)least_burst,
#else
	.pkts_acked = (void *)acked,
	.cong_avoid = (void *)grow,
#endif
	.ssthresh = (void *)threshold,
	.set_state = (void *)changes,
	.cwnd_event = (void *)event,
	.undo_cwnd = (void *)undo,
	.name = NAMED,
#ifdef FLAGS
	.flags = FLAGS,
#endif
};

#include "step.h"

/* The state of the connection that a test steps through. */
struct CC stepped;

SEC("syscall")
int step(struct step *given)
{
	struct step s;

	__builtin_memcpy(&s, given, sizeof(s));
	STEP(CC, &stepped, &s);
	__builtin_memcpy(given, &s, sizeof(s));
	return 0;
}
