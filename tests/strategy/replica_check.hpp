#pragma once
/// Checks on replica threads: Catch2's own macros may only be used by one thread.

#include <stdexcept>

#define REPLICA_CHECK(...) \
  if (!(__VA_ARGS__)) throw std::logic_error("not true in a replica: " #__VA_ARGS__)
