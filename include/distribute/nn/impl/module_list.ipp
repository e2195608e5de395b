#pragma once
#include <distribute/base/error.hpp>
#include <distribute/nn/module_list.hpp>

namespace distribute::nn {

DISTRIBUTE_INLINE Tensor ModuleListBase::call(const Tensor&, CallOptions) {
  throw UnimplementedError(
      "a ModuleList computes nothing by itself: call its layers, or use a Sequential");
}

}  // namespace distribute::nn
