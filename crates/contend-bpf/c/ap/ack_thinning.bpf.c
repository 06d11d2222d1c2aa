// SPDX-License-Identifier: GPL-2.0-only
/*
 * Thinning of acknowledgments to the air, for an access point's wireless interface: egress drops, ingress learns what
 * data passed. RFC 3449 §5.2.1. Flows whose SYN was not seen are left alone.
 */
#include "acks.bpf.h"

struct ack_thinning_set {
	u64 d;	    /* one of d acknowledgments passes */
	u64 accecn; /* PASS, COUNT or BLIND */
};
__attribute__((section(".rodata.settings"), used))
const volatile struct ack_thinning_set settings = { .d = 2, .accecn = 0 };

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct calls);
} calls_thinning SEC(".maps");

SEC("tc")
int contend_thinning(struct __sk_buff *skb)
{
	u32 zero = 0;
	struct calls *c = bpf_map_lookup_elem(&calls_thinning, &zero);
	struct told t;
	struct acks *f = acknowledgment(skb, &t, settings.accecn);

	if (!f)
		return TC_ACT_UNSPEC;
	if (c)
		__sync_fetch_and_add(&c->seen, 1);
	if (thinning_passes(f, &t, settings.d, settings.accecn))
		return TC_ACT_UNSPEC;
	if (c)
		__sync_fetch_and_add(&c->dropped, 1);
	return TC_ACT_SHOT;
}
