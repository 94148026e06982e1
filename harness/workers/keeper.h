#pragma once

#include <sys/types.h>

namespace bic {

// A small process beside this one that kills the groups of its workers when this one is gone
// without having been able to, as after a SIGKILL. The workers themselves would die with it; what
// they started would not.

/// From now on the group is killed when this process ends. Throws HarnessError when the system
/// refuses the process.
void keep_group(pid_t group);

/// It has been killed: its number may soon belong to others.
void forget_group(pid_t group);

}  // namespace bic
