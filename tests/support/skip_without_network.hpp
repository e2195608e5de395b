#pragma once
/// Tests on hosts of their own, which not every machine can play.

#include <distribute/testing/detail/network_namespaces.hpp>

#include <tests/support/catch.hpp>

/// Leaves the test with the reason where the machine gives no such network (NetworkOptions).
#define SKIP_WITHOUT_NETWORK(...)                                                  \
  if (const std::string reason =                                                   \
          distribute::testing::NetworkNamespaces::unavailable_reason(__VA_ARGS__); \
      reason != "") {                                                              \
    WARN("skipped: " << reason);                                                   \
    return;                                                                        \
  }
