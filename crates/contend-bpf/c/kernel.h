/* SPDX-License-Identifier: GPL-2.0-only */
/* The fields of the kernel's types that the programs use. Offsets are corrected when a program is loaded. */
#ifndef CONTEND_KERNEL_H
#define CONTEND_KERNEL_H

#include <stdbool.h>
#include <linux/types.h>
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

typedef struct { __s64 counter; } atomic64_t;
struct sock_common { atomic64_t skc_cookie; };
struct sock {
	struct sock_common __sk_common;
	unsigned long sk_pacing_rate, sk_max_pacing_rate;
	__u32 sk_pacing_status;
};
struct inet_connection_sock {
	__u32 icsk_rto;
	__u8 icsk_ca_state : 5;
};
struct minmax_sample { __u32 t, v; };
struct minmax { struct minmax_sample s[3]; };
struct tcp_options_received {
	__u32 rcv_tsval;
	__u16 tstamp_ok : 1;
};
struct tcp_sock {
	struct inet_connection_sock inet_conn;
	__u64 tcp_mstamp;
	struct minmax rtt_min;
	struct tcp_options_received rx_opt;
	__u32 snd_cwnd, snd_cwnd_cnt, snd_cwnd_clamp, snd_ssthresh, prior_cwnd, snd_wnd, mss_cache, lsndtime;
	__u32 srtt_us, mdev_us, snd_una, snd_nxt, delivered, delivered_ce, data_segs_out, packets_out, retrans_out;
	__u32 lost_out, sacked_out, max_packets_out;
	__u8 is_cwnd_limited : 1;
	__u8 ecn_flags;
};
struct ack_sample {
	__u32 pkts_acked;
	__s32 rtt_us;
};
struct rate_sample {
	long rtt_us;
	__u32 acked_sacked;
	bool is_app_limited;
};
enum tcp_ca_event { CA_EVENT_TX_START };
struct tcp_congestion_ops {
	__u32 (*ssthresh)(struct sock *);
	void (*cong_avoid)(struct sock *, __u32, __u32);
	void (*set_state)(struct sock *, __u8);
	void (*cwnd_event)(struct sock *, enum tcp_ca_event);
	void (*in_ack_event)(struct sock *, __u32);
	void (*pkts_acked)(struct sock *, const struct ack_sample *);
	__u32 (*min_tso_segs)(struct sock *);
	void (*cong_control)(struct sock *, __u32, int, const struct rate_sample *);
	__u32 (*undo_cwnd)(struct sock *);
	void (*init)(struct sock *);
	char name[16];
	__u32 flags;
};

#pragma clang attribute pop
#endif
