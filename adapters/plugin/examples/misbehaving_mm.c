/* examples/mm.c with one planted misbehaviour, BIC_MISBEHAVE (one of the names below): what the
 * suite's own test shows to be caught, while all other cases are judged. It strikes at a batch of
 * 33; those that spoil the tables, always. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bi_conform_plugin.h"

const struct bic_plugin* honest_entry(uint32_t version);
#define bi_conform_plugin honest_entry
#include "mm.c"
#undef bi_conform_plugin

enum misbehaviour {
  segfaults,
  aborts,
  exits,
  loops,
  closes_its_socket,
  talks_on_its_socket,
  floods_stderr,
  crashes_later,
  raises_sigkill,
  says_another_shape,
  says_another_dtype,
  moves_the_output,
  invents_axes,
  writes_past_the_end,
  writes_before_the_begin,
  writes_nothing,
  leaves_one_out,
  changes_an_input,
  declines,
  fails,
  serves_no_version,
  is_of_a_newer_version,
  has_a_short_table,
  has_no_claims,
  has_a_null_claim,
  has_a_null_run,
  dies_on_loading,
  leaks,
  leaves_a_child,
  hangs_with_a_child
};

static void* crash_soon(void* unused) {
  (void)unused;
  usleep(5000);
  abort();
}

static void spoil_process(void) {
  pthread_t thread;
  volatile int* volatile nowhere = 0;
  switch (BIC_MISBEHAVE) {
    case segfaults:
      signal(SIGSEGV, SIG_DFL); /* which a sanitizer in the program replaces */
      *nowhere = 1;
      break;
    case aborts:
      abort();
    case exits:
      exit(0);
    case loops:
      for (volatile int forever = 1; forever;) {
      }
      break;
    case closes_its_socket:
      close(3);
      break;
    case talks_on_its_socket:
      send(3, "\4\0\0\0oops", 8, MSG_NOSIGNAL);
      break;
    case floods_stderr:
      for (;;) fprintf(stderr, "flood flood flood flood flood flood flood\n");
    case crashes_later:
      pthread_create(&thread, 0, crash_soon, 0);
      break;
    case leaks: /* 1 GiB in a second, where nobody stops it */
      for (int i = 0; i < 64; ++i, usleep(15000)) memset(malloc(16 << 20), 1, 16 << 20);
      break;
    case leaves_a_child:
      if (fork() > 0) abort();
      for (;;) pause();
    case hangs_with_a_child:
      fork();
      for (;;) pause();
    case raises_sigkill:
      kill(getpid(), SIGKILL);
      break;
    default:
      break;
  }
}

static void spoil_output(struct bic_call* call) {
  struct bic_tensor* y = call->output;
  const int64_t last = y->shape[0] * y->shape[1];
  switch (BIC_MISBEHAVE) {
    case says_another_shape:
      --y->shape[0];
      break;
    case says_another_dtype:
      y->dtype.bits = 64;
      break;
    case moves_the_output:
      y->data = call->inputs[0]->data;
      break;
    case invents_axes:
      y->ndim = 3;
      break;
    case writes_past_the_end:
      element(y, 0, 0)[last] = 0;
      break;
    case writes_before_the_begin:
      element(y, 0, 0)[-1] = 0;
      break;
    case leaves_one_out:
      memset(element(y, 32, 0), 0xff, sizeof(float));
      break;
    case changes_an_input:
      *element(call->inputs[1], 0, 0) += 1;
      break;
    default:
      break;
  }
}

static int spoiled_run(struct bic_call* call) {
  if (call->output->shape[0] != 33) return run(call);
  spoil_process();
  error = "not today\nnor tomorrow";
  if (BIC_MISBEHAVE == declines) return -7;
  if (BIC_MISBEHAVE == fails) return 7;
  if (BIC_MISBEHAVE == writes_nothing) return 0;
  const int code = run(call);
  spoil_output(call);
  return code;
}

const struct bic_plugin* bi_conform_plugin(uint32_t version) {
  static const struct bic_claim* const nothing[] = {0};
  static struct bic_plugin spoiled;
  spoiled = *honest_entry(version);
  spoiled.run = spoiled_run;
  switch (BIC_MISBEHAVE) {
    case serves_no_version:
      return 0;
    case is_of_a_newer_version:
      spoiled.version = 7;
      break;
    case has_a_short_table:
      spoiled.struct_size -= 8;
      break;
    case has_no_claims:
      spoiled.claims = 0;
      break;
    case has_a_null_claim:
      spoiled.claims = nothing;
      break;
    case has_a_null_run:
      spoiled.run = 0;
      break;
    case dies_on_loading:
      abort();
    default:
      break;
  }
  return &spoiled;
}
