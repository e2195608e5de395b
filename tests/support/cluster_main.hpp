#pragma once
/// Lets DISTRIBUTE_CLUSTER_MAIN functions of a Catch2 test program run as tasks: before the first
/// test, when all static objects are made.

#include <tests/support/catch.hpp>

#include <distribute/testing/process_cluster.hpp>

#if __has_include(<catch2/catch_all.hpp>)
using CatchListenerBase = Catch::EventListenerBase;
#else
using CatchListenerBase = Catch::TestEventListenerBase;
#endif

class ClusterMainListener : public CatchListenerBase {
 public:
  using CatchListenerBase::CatchListenerBase;
  void testRunStarting(const Catch::TestRunInfo&) override {
    distribute::testing::run_cluster_function_if_asked();
  }
};

CATCH_REGISTER_LISTENER(ClusterMainListener)
