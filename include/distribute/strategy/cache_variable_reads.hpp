#pragma once
/// A scope in which variables on parameter servers are read once.

#include <distribute/base/config.hpp>

namespace distribute {

/// While it lives, each variable on a server that the calling thread reads keeps the value of its
/// first read, also across writes.
/// Throws  FailedPreconditionError inside another one.
/// Source  tf.distribute cache_variable_reads
class [[nodiscard]] CacheVariableReads {
 public:
  CacheVariableReads();
  ~CacheVariableReads();
  CacheVariableReads(const CacheVariableReads&) = delete;
  CacheVariableReads& operator=(const CacheVariableReads&) = delete;
};

}  // namespace distribute
