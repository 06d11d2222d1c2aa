/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* One step of a test: what happens to a controller, and what it answers. The same for the host and for the kernel. */
#ifndef CONTEND_STEP_H
#define CONTEND_STEP_H

enum what { START, EVERY_ACK, ON_ACK, CONGESTION, RESTART, RECOVERED, UNDO };

#ifndef ON_RECOVERED
#define ON_RECOVERED(state, now, w)
#endif
#ifndef ON_UNDO
#define ON_UNDO(state, w)
#endif

struct step {
	u64 what, now;
	struct window w;
	struct ack a;
	struct signal s;
	struct response r;
};

#define STEP_PASTE2(a, b) a##b
#define STEP_PASTE(a, b) STEP_PASTE2(a, b)
#define STEP(CC, state, step)                                                                             \
	do {                                                                                                    \
		if ((step)->what == START) {                                                                     \
			__builtin_memset(state, 0, sizeof(*(state)));                                            \
			STEP_PASTE(CC, _start)(state, &(step)->w);                                          \
		} else if ((step)->what == EVERY_ACK) {                                                          \
			STEP_PASTE(CC, _every_ack)(state, (step)->now, &(step)->w, &(step)->a);              \
		} else if ((step)->what == ON_ACK) {                                                             \
			STEP_PASTE(CC, _on_ack)(state, (step)->now, &(step)->w, &(step)->a);                 \
		} else if ((step)->what == CONGESTION) {                                                         \
			STEP_PASTE(CC, _on_congestion)(state, (step)->now, &(step)->w, &(step)->s, &(step)->r); \
		} else if ((step)->what == RESTART) {                                                            \
			STEP_PASTE(CC, _on_restart)(state, (step)->now, &(step)->w);                         \
		} else if ((step)->what == RECOVERED) {                                                          \
			ON_RECOVERED(state, (step)->now, &(step)->w);                                        \
		} else {                                                                                         \
			ON_UNDO(state, &(step)->w);                                                          \
		}                                                                                                \
	} while (0)

#endif
