// SPDX-License-Identifier: GPL-2.0-only
/*
 * FCWA's enforcement at an access point, for ingress and egress of its wireless interface: no flow is offered a window
 * of more than `segments`. Keceli, Inan, Ayanoglu 2008, §III.
 *
 * - SYNs are read, never changed. A flow whose handshake was not seen is left alone, because its window unit is
 *   unknown.
 * - The segment size is the largest segment seen.
 */
#include "tcp.h"
#include "window.h"

char LICENSE[] SEC("license") = "GPL";

struct fcwa_set {
	u64 segments; /* window limit of each flow (contend model fcwa); 0: none */
	u64 keep_edge; /* 1: an offered window is not taken back */
};
__attribute__((section(".rodata.settings"), used)) const volatile struct fcwa_set settings = {
	.segments = 20,
	.keep_edge = 1,
};

/* The direction in which acknowledgments travel. */
struct flow {
	u64 ack, edge;
	/* The largest segment of the data that they acknowledge. */
	u32 mss;
	/* Window scale of the sender of the acknowledgments, from its SYN; -1: it cannot scale. */
	s32 scale;
	/* Its SYN was seen, and whether that was a SYN with ACK. */
	u8 syn, second, unused[6];
};
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, struct direction);
	__type(value, struct flow);
} flows SEC(".maps");
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct calls);
} calls_fcwa SEC(".maps");

/* The scale in use, or -1 if the handshake does not tell: both ends must have offered it (RFC 7323 §2.2). */
INLINE int scale_of(const struct flow *f, const struct flow *other)
{
	if (!f->syn)
		return -1;
	/* A SYN with ACK offers it only if the SYN did. */
	if (f->second || f->scale < 0)
		return f->scale < 0 ? 0 : f->scale;
	if (!other || !other->syn)
		return -1;
	return other->scale < 0 ? 0 : f->scale;
}

SEC("tc")
int contend_fcwa(struct __sk_buff *skb)
{
	struct tcp p = {};
	struct direction reverse;
	struct flow *f, *other, fresh = {};
	struct calls *c;
	u32 zero = 0, offered, scale;
	u16 field, old;
	int known;

	if (!read_tcp(skb, &p))
		return TC_ACT_UNSPEC;
	reverse = back(&p.way);
	if (p.flags & SYN) {
		fresh.syn = 1;
		fresh.second = !!(p.flags & ACK);
		fresh.scale = option(skb, p.at, p.length, 3);
		bpf_map_update_elem(&flows, &p.way, &fresh, BPF_ANY);
		return TC_ACT_UNSPEC;
	}
	other = bpf_map_lookup_elem(&flows, &reverse);
	if (other && p.segment > other->mss)
		other->mss = p.segment;
	f = bpf_map_lookup_elem(&flows, &p.way);
	c = bpf_map_lookup_elem(&calls_fcwa, &zero);
	if (c)
		__sync_fetch_and_add(&c->seen, 1);
	if (!f || !(p.flags & ACK) || (p.flags & RST) || !f->mss || !settings.segments)
		return TC_ACT_UNSPEC;
	known = scale_of(f, other);
	if (known < 0)
		return TC_ACT_UNSPEC;
	scale = known > 14 ? 14 : known;
	f->ack = unwrapped(f->ack, p.ack);
	offered = lowered(f->ack, (u32)p.window << scale, scale, settings.segments, f->mss, &f->edge, settings.keep_edge);
	if (offered >> scale == p.window)
		return TC_ACT_UNSPEC;
	old = bpf_htons(p.window);
	field = bpf_htons(offered >> scale);
	/* RFC 1624: the checksum moves with the field. */
	if (bpf_l4_csum_replace(skb, p.at + 16, old, field, 2))
		return TC_ACT_UNSPEC;
	bpf_skb_store_bytes(skb, p.at + 14, &field, 2, 0);
	if (c)
		__sync_fetch_and_add(&c->lowered, 1);
	return TC_ACT_UNSPEC;
}
