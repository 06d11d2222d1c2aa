// SPDX-License-Identifier: GPL-2.0-only
/*
 * ECT(1) for the sockets of contend_prague, for the egress of a host's interface. Linux 6.18 negotiates accurate ECN
 * for a controller that asks for it, but its data packets carry ECT(0). This writes ECT(1) instead (RFC 9331 §4.1).
 *
 * - Only packets of this host's sockets whose controller has this name, and which have negotiated accurate ECN.
 * - Packets that are not ECN-capable stay so. The kernel has ECT(1) on SYN and SYN-ACK by itself.
 */
#include "ecn.bpf.h"
#include <bpf/bpf_core_read.h>

char LICENSE[] SEC("license") = "GPL";

struct ect1_set {
	u64 mark; /* one of so many packets gets CE instead, to try the answer to marks; 0: none */
};
__attribute__((section(".rodata.settings"), used)) const volatile struct ect1_set settings = { .mark = 0 };

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct tcp_congestion_ops {
	char name[16];
};
struct inet_connection_sock {
	const struct tcp_congestion_ops *icsk_ca_ops;
};
struct tcp_sock {
	struct inet_connection_sock inet_conn;
	__u8 ecn_flags;
};
#pragma clang attribute pop

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct calls);
} calls_ect1 SEC(".maps");
/* Packets written so far. */
u64 written;

#define TCP_ECN_MODE_ACCECN 16

/* The first 16 bytes of both names are equal. */
INLINE int is_prague(const struct tcp_sock *tp)
{
	const char name[16] = "contend_prague";
	const struct tcp_congestion_ops *ops = tp->inet_conn.icsk_ca_ops;
	char other[16];
	u32 i;

	if (!ops || bpf_probe_read_kernel(other, sizeof(other), ops->name))
		return 0;
	for (i = 0; i < sizeof(name); i++)
		if (name[i] != other[i])
			return 0;
	return 1;
}

SEC("tc")
int contend_ect1(struct __sk_buff *skb)
{
	u32 zero = 0;
	struct calls *c = bpf_map_lookup_elem(&calls_ect1, &zero);
	struct bpf_sock *sk = skb->sk;
	struct tcp_sock *tp;
	u64 nth;
	int marks;

	if (!c || !sk || ecn(skb) != ECT0)
		return TC_ACT_UNSPEC;
	tp = bpf_skc_to_tcp_sock(sk);
	if (!tp || !is_prague(tp))
		return TC_ACT_UNSPEC;
	__sync_fetch_and_add(&c->seen, packets_of(skb));
	if (!(tp->ecn_flags & TCP_ECN_MODE_ACCECN))
		return TC_ACT_UNSPEC;
	nth = __sync_fetch_and_add(&written, 1) + 1;
	marks = settings.mark && nth % settings.mark == 0;
	if (!write_ecn(skb, marks ? CE : ECT1))
		__sync_fetch_and_add(marks ? &c->dropped : &c->lowered, packets_of(skb));
	return TC_ACT_UNSPEC;
}
