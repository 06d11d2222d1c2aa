// SPDX-License-Identifier: GPL-2.0-only
/*
 * FCWA at an access point, for ingress and egress of its wireless interface: no flow is offered a window of more than
 * `segments`, or, if that is 0, than its measured W_lim. Keceli, Inan, Ayanoglu 2008, §III.
 *
 * - SYNs are read, never changed. A flow whose handshake was not seen is left alone, because its window unit is
 *   unknown.
 * - The segment size is the largest segment seen.
 * - A packet comes from the air if it came in by this interface. Flows that are left alone count too.
 * - Two processors may measure with packets of one flow at the same time, and a sample may get lost then.
 */
#include "tcp.h"
#include "window.h"
#include "fcwa.h"

char LICENSE[] SEC("license") = "GPL";

__attribute__((section(".rodata.settings"), used)) const volatile struct fcwa_set settings = {
	.segments = 20,
	.keep_edge = 1,
	.buffer = 100,
	.margin = 1000,
	.minimum = 1,
	.least_delay = 0,
	.active = 2000,
	.update = 1000,
	.data_data = 809985,
	.data_ack = 593985,
	.ack_ack = 352747,
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
	/* Of the data that they acknowledge. */
	struct path path;
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
/* What all flows share. */
struct fcwa_all all;
/* Always 0. */
volatile u64 none;

/* A flow of which nothing is known yet. Not on the stack, which has 512 bytes for all functions together. */
const struct flow fresh = { .path = NEW_PATH };

/* The state of the flow that `way` acknowledges, all new; `up`: its data come from the air. 0: there is no room. */
INLINE struct flow *new_flow(const struct direction *way, u64 now, int up)
{
	struct flow *f;

	if (bpf_map_update_elem(&flows, way, &fresh, BPF_ANY))
		return 0;
	f = bpf_map_lookup_elem(&flows, way);
	if (f) {
		f->path.last = now;
		f->path.up = up;
	}
	return f;
}

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

struct bpf_map;

/* For each flow of a recount. */
struct recount {
	struct fcwa_count count;
	u64 now, expire;
};
static long recount_flow(struct bpf_map *map, struct direction *way, struct flow *f, struct recount *r)
{
	if (r->expire)
		path_expires(&f->path, r->now, settings.active * MS);
	path_counts(&f->path, &r->count);
	return 0;
}

/* Counts the active flows again if T_update has passed, or if a flow becomes active. */
__attribute__((noinline)) int recounted(u64 now, int becomes)
{
	/* Sums that start from a number it does not know are all the same to the verifier, so it looks at one flow only. */
	struct recount r = { .count = { none, none, none }, .now = now };

	r.expire = now >= all.next;
	if (!r.expire && !becomes)
		return 0;
	if (r.expire)
		all.next = now + settings.update * MS;
	bpf_for_each_map_elem(&flows, recount_flow, &r, 0);
	fcwa_update(&all, &r.count, &settings);
	return 1;
}

/* Functions that are not static: the verifier looks at each of them once. */
__attribute__((noinline)) int measure_data(struct path *p, u64 now, u64 seq, u64 end, u64 edge)
{
	if (p)
		path_data(p, now, seq, end, edge);
	return 0;
}

struct edges {
	u64 before, after;
};
__attribute__((noinline)) int measure_ack(struct path *p, u64 now, u64 ack, const struct edges *e, u32 mss)
{
	if (p && e)
		path_ack(p, now, ack, e->before, e->after, mss);
	return 0;
}

__attribute__((noinline)) u64 limit(struct path *p) { return p ? fcwa_segments(p, &all, &settings) : U64_MAX; }

SEC("tc")
int contend_fcwa(struct __sk_buff *skb)
{
	struct tcp p = {};
	struct direction reverse;
	struct flow *f, *other;
	struct calls *c;
	u32 zero = 0, offered, scale;
	u64 now, from, segments = settings.segments;
	struct edges edges = {};
	u16 field, old;
	int known, measures = !settings.segments, air = skb->ingress_ifindex == skb->ifindex, becomes = 0;

	if (!read_tcp(skb, &p))
		return TC_ACT_UNSPEC;
	now = bpf_ktime_get_ns();
	reverse = back(&p.way);
	if (p.flags & SYN) {
		/* The data that it acknowledges come from the other side. */
		f = new_flow(&p.way, now, !air);
		if (f) {
			f->syn = 1;
			f->second = !!(p.flags & ACK);
			f->scale = option(skb, p.at, p.length, 3);
		}
		return TC_ACT_UNSPEC;
	}
	other = bpf_map_lookup_elem(&flows, &reverse);
	if (!other && measures && p.payload)
		other = new_flow(&reverse, now, air);
	if (other && p.segment > other->mss)
		other->mss = p.segment;
	if (other && measures && p.payload)
		becomes = path_sees_data(&other->path, now);
	if (measures)
		recounted(now, becomes);
	if (other && measures && p.payload) {
		from = unwrapped(most(other->ack, other->path.end), p.seq);
		measure_data(&other->path, now, from, from + p.payload, other->edge);
	}
	f = bpf_map_lookup_elem(&flows, &p.way);
	c = bpf_map_lookup_elem(&calls_fcwa, &zero);
	if (c)
		__sync_fetch_and_add(&c->seen, 1);
	if (!f || !(p.flags & ACK) || (p.flags & RST) || !f->mss)
		return TC_ACT_UNSPEC;
	known = scale_of(f, other);
	f->ack = unwrapped(most(f->ack, f->path.end), p.ack);
	if (known < 0) {
		if (measures)
			measure_ack(&f->path, now, f->ack, &edges, f->mss);
		return TC_ACT_UNSPEC;
	}
	scale = known > 14 ? 14 : known;
	if (measures)
		segments = limit(&f->path);
	edges.before = f->edge;
	offered = lowered(f->ack, (u32)p.window << scale, scale, segments, f->mss, &f->edge, settings.keep_edge);
	edges.after = f->edge;
	if (measures)
		measure_ack(&f->path, now, f->ack, &edges, f->mss);
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
