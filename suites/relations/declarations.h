#pragma once

#include "suites/relations/relation.h"

namespace bic {

Relation repeat();
Relation fresh();
Relation alone_relation();
Relation twins();
Relation permute();
Relation neighbours();
Relation layout();
Relation forms();
Relation pad();
Relation threads();
Relation zeropad();
Relation chunk();
Relation rank();
Relation stream();
Relation graph();
Relation peer();

}  // namespace bic
