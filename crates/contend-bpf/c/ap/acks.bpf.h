/* SPDX-License-Identifier: GPL-2.0-only */
/* What ack_thinning and ack_filter share: the table of flows, and the reading of acknowledgments. */
#include "tcp.h"
#include "acks.h"

char LICENSE[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, struct direction);
	__type(value, struct acks);
} flows SEC(".maps");

/* Reads a packet and records its data. Returns the state of the direction in which it acknowledges; 0: none. */
INLINE struct acks *acknowledgment(struct __sk_buff *skb, struct told *t, u64 accecn)
{
	struct tcp p = {};
	struct direction reverse;
	struct acks *f, *other, fresh = {};
	u64 end;

	if (!read_tcp(skb, &p))
		return 0;
	if (p.flags & SYN) {
		bpf_map_update_elem(&flows, &p.way, &fresh, BPF_ANY);
		return 0;
	}
	reverse = back(&p.way);
	other = p.payload ? bpf_map_lookup_elem(&flows, &reverse) : 0;
	if (other) {
		end = unwrapped(most(other->sent, other->highest), p.seq + p.payload);
		other->sent = most(other->sent, end);
	}
	f = bpf_map_lookup_elem(&flows, &p.way);
	if (!f)
		return 0;
	t->ack = unwrapped(most(f->highest, f->sent), p.ack);
	t->ace = p.ace;
	t->pure = (p.flags & ~(ECE | CWR)) == ACK && (!p.ace || accecn != PASS) && !p.payload &&
		  option(skb, p.at, p.length, 5) < 0;
	return f;
}

/* For ingress: what data the stations send. */
SEC("classifier")
int contend_learn(struct __sk_buff *skb)
{
	struct told t;

	acknowledgment(skb, &t, PASS);
	return TC_ACT_UNSPEC;
}
