/* mm.c with a planted delay: each call takes SLOW_MM_PERCENT per cent longer than it needs. The
 * bits are those of mm.c. It shows that a gate sees a slow-down:
 *   bi-conform --backend plugin:mm.so --op mm --dtype fp32 --out before
 *   bi-conform gate --backend plugin:slow_mm.so --baseline before
 * A sleep ends too late by more than a small call takes, so the delay is spent looking at a clock.
 */
#define _POSIX_C_SOURCE 199309L
#include <time.h>

#include "bi_conform_plugin.h"

/* The whole of mm.c, with its entry under another name. */
#define bi_conform_plugin mm_plugin
#include "mm.c"
#undef bi_conform_plugin

#ifndef SLOW_MM_PERCENT
#define SLOW_MM_PERCENT 30
#endif

static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int run_slowly(struct bic_call* call) {
  const int64_t begin = now_ns();
  const int status = run(call);
  const int64_t needed = now_ns() - begin;
  const int64_t end = begin + needed + needed * SLOW_MM_PERCENT / 100;
  while (now_ns() < end) continue;
  return status;
}

const struct bic_plugin* bi_conform_plugin(uint32_t version) {
  static struct bic_plugin slow;
  const struct bic_plugin* const mm = mm_plugin(version);
  if (mm == 0) return 0;
  slow = *mm;
  slow.name = "example-slow-mm";
  slow.run = run_slowly;
  return &slow;
}
