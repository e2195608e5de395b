#pragma once
/// All headers as a user may have them, and calls of templates that warn only where they are used.

#include <distribute/fwd.hpp>

#include <distribute/distribute.hpp>

inline void update_everywhere(distribute::Strategy& strategy,
                              const distribute::Variable& variable) {
  strategy.extended().update(variable, [](const distribute::Variable& v) { v.value(); });
  strategy.extended().update(variable, [](const distribute::Variable& v) { return v.value(); });
}
