// SPDX-License-Identifier: GPL-2.0-only
/*
 * ACK filter for an access point's wireless interface: egress drops an acknowledgment while an older one of its flow
 * waits in the queue, ingress learns what data passed. RFC 3449 §5.2.1. Flows whose SYN was not seen are left alone.
 *
 * - The queue is the interface's root discipline. Without one, or with one for each hardware queue (mq), nothing is
 *   seen to wait, and nothing is dropped.
 * - What the queue drops counts as having left it: then fewer acknowledgments are filtered.
 */
#include "acks.bpf.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct qdisc_skb_head { __u32 qlen; };
struct Qdisc { struct qdisc_skb_head q; };
struct net_device { struct Qdisc *qdisc; };
struct sk_buff { struct net_device *dev; };
#pragma clang attribute pop

extern void *bpf_cast_to_kern_ctx(void *) __ksym;

struct ack_filter_set {
	u64 least;  /* packets that must wait before anything is filtered */
	u64 accecn; /* PASS, COUNT or BLIND */
};
__attribute__((section(".rodata.settings"), used))
const volatile struct ack_filter_set settings = { .least = 1, .accecn = 0 };

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct calls);
} calls_filter SEC(".maps");

/* Packets that have entered the queue. */
u64 entered;

SEC("tc")
int contend_filter(struct __sk_buff *skb)
{
	u32 zero = 0;
	struct calls *c = bpf_map_lookup_elem(&calls_filter, &zero);
	struct sk_buff *kernel = bpf_cast_to_kern_ctx(skb);
	u64 here, waiting = kernel->dev->qdisc->q.qlen;
	struct told t;
	struct acks *f = acknowledgment(skb, &t, settings.accecn);

	here = __sync_fetch_and_add(&entered, 1) + 1;
	if (!f)
		return TC_ACT_UNSPEC;
	if (c)
		__sync_fetch_and_add(&c->seen, 1);
	if (waiting < settings.least)
		waiting = 0;
	if (filter_passes(f, &t, here, sat_sub(here - 1, waiting), settings.accecn))
		return TC_ACT_UNSPEC;
	__sync_fetch_and_add(&entered, -1);
	if (c)
		__sync_fetch_and_add(&c->dropped, 1);
	return TC_ACT_SHOT;
}

/* One decision of a test. */
struct decision {
	struct acks f;
	struct told t;
	u64 here, left, passes;
};

SEC("syscall")
int step(struct decision *d)
{
	struct acks f = d->f;

	d->passes = filter_passes(&f, &d->t, d->here, d->left, settings.accecn);
	d->f = f;
	return 0;
}
