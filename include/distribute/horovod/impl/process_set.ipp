#pragma once
#include <distribute/base/error.hpp>
#include <distribute/horovod/basics.hpp>
#include <distribute/horovod/detail/engine.hpp>
#include <distribute/horovod/detail/engine_scope.hpp>

#include <algorithm>

namespace distribute::hvd {

using horovod_internal::Kind;

DISTRIBUTE_INLINE std::vector<int> ProcessSet::ranks() const {
  return horovod_internal::engine()->members(id_);
}

DISTRIBUTE_INLINE int ProcessSet::rank() const {
  const std::vector<int> all = ranks();
  const auto found = std::find(all.begin(), all.end(), horovod_internal::engine()->rank());
  return found == all.end() ? -1 : int(found - all.begin());
}

DISTRIBUTE_INLINE ProcessSet add_process_set(std::vector<int> ranks) {
  const auto engine = horovod_internal::engine();
  std::sort(ranks.begin(), ranks.end());
  const bool twice = std::adjacent_find(ranks.begin(), ranks.end()) != ranks.end();
  const std::vector<int64_t> numbers(ranks.begin(), ranks.end());
  if (ranks.empty() || twice || ranks.front() < 0 || ranks.back() >= engine->size())
    throw InvalidArgumentError(str_cat("add_process_set: wanted different ranks from 0 to ",
                                       engine->size() - 1, ", got ",
                                       horovod_internal::numbers_text(numbers)));
  const auto operation =
      engine->submit({.terms = {.kind = Kind::AddProcessSet}, .name = {}, .splits = numbers});
  engine->wait(*operation);
  return ProcessSet(operation->number);
}

DISTRIBUTE_INLINE void remove_process_set(const ProcessSet& process_set) {
  const auto engine = horovod_internal::engine();
  engine->wait(*engine->submit({.terms = {.kind = Kind::RemoveProcessSet},
                                .name = {},
                                .splits = {process_set.process_set_id()}}));
}

}  // namespace distribute::hvd
