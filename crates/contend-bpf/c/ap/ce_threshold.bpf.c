// SPDX-License-Identifier: GPL-2.0-only
/*
 * A shallow threshold for L4S, for the egress of an interface whose root discipline is the bottleneck and has no
 * threshold of its own. A packet that supports ECN is marked if what waits in the queue before it takes longer than
 * `threshold` at `rate`: the wait of a FIFO, as `ce_threshold` of Linux's and contend's disciplines has it at the head
 * (RFC 8290 §5.2.7), but for the rest of the packet that is being sent.
 *
 * - The queue is the interface's root discipline, with all that is below it. Without one (as on mac80211), with one for
 *   each hardware queue (mq), or with one that counts for each processor (pfifo_fast) nothing is seen to wait.
 * - In a discipline with a queue for each flow the wait of the packet is shorter than that of the whole.
 */
#include "ecn.bpf.h"
#include "wait.h"

char LICENSE[] SEC("license") = "GPL";

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct gnet_stats_queue { __u32 backlog; };
struct Qdisc { struct gnet_stats_queue qstats; };
struct net_device { struct Qdisc *qdisc; };
struct sk_buff { struct net_device *dev; };
#pragma clang attribute pop

extern void *bpf_cast_to_kern_ctx(void *) __ksym;

struct ce_threshold_set {
	u64 threshold; /* us */
	u64 rate;      /* bit/s */
	u64 ect1;      /* 1: only ECT(1) is marked; 0: ECT(0), too */
};
__attribute__((section(".rodata.settings"), used))
const volatile struct ce_threshold_set settings = { .threshold = 1000, .rate = 0, .ect1 = 1 };

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct calls);
} calls_threshold SEC(".maps");

SEC("tc")
int contend_step(struct __sk_buff *skb)
{
	u32 zero = 0, field = ecn(skb);
	struct calls *c = bpf_map_lookup_elem(&calls_threshold, &zero);
	struct sk_buff *kernel = bpf_cast_to_kern_ctx(skb);
	u64 backlog = kernel->dev->qdisc->qstats.backlog;

	if (!c || !field)
		return TC_ACT_UNSPEC;
	__sync_fetch_and_add(&c->seen, packets_of(skb));
	if (field == CE)
		__sync_fetch_and_add(&c->lowered, packets_of(skb));
	else if ((field == ECT1 || !settings.ect1) && waits_longer(backlog, settings.rate, settings.threshold) &&
		 !write_ecn(skb, CE))
		__sync_fetch_and_add(&c->dropped, packets_of(skb));
	return TC_ACT_UNSPEC;
}

/* One decision of a test. */
struct decision {
	u64 backlog, marks;
};

SEC("syscall")
int step(struct decision *d)
{
	d->marks = waits_longer(d->backlog, settings.rate, settings.threshold);
	return 0;
}
