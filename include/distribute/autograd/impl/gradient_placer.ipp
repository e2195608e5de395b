#pragma once
#include <distribute/autograd/detail/gradient_placer.hpp>
#include <distribute/base/process_state.hpp>

namespace distribute {

DISTRIBUTE_INLINE GradientPlacer*& gradient_placer() {
  return base_internal::in_thread_context<base_internal::ContextPlace{3, 5}, GradientPlacer*>();
}

}  // namespace distribute
