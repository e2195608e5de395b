#pragma once
#include <distribute/horovod/collectives.hpp>

namespace distribute::hvd {

DISTRIBUTE_INLINE const char* name_of(Op op) {
  switch (op) {
    case Op::Average: return "average";
    case Op::Sum: return "sum";
    case Op::Min: return "min";
    case Op::Max: return "max";
    case Op::Product: return "product";
  }
  return "?";
}

}  // namespace distribute::hvd
