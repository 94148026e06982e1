#include "adapters/protocol/usable_cores.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <thread>

namespace bic {
namespace {

TEST(UsableCores, AreThoseThatTheThreadIsBoundTo) {
  int bound = 0;
  std::thread([&] {  // the binding ends with the thread
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    bound = usable_cores();
  })
      .join();
  EXPECT_EQ(bound, 1);
  EXPECT_GE(usable_cores(), 1);
}

}  // namespace
}  // namespace bic
