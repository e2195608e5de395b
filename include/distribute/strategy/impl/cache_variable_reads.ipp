#pragma once
#include <distribute/base/error.hpp>
#include <distribute/strategy/detail/remote_variable.hpp>
#include <distribute/strategy/parameter_server_strategy.hpp>

namespace distribute {

DISTRIBUTE_INLINE CacheVariableReads::CacheVariableReads() {
  auto& reads = strategy_internal::cached_reads();
  if (reads) throw FailedPreconditionError("cache_variable_reads scopes cannot be nested");
  reads = std::make_unique<std::unordered_map<uint64_t, Tensor>>();
}

DISTRIBUTE_INLINE CacheVariableReads::~CacheVariableReads() {
  strategy_internal::cached_reads().reset();
}

}  // namespace distribute
