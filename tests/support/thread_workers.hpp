#pragma once
/// Workers of a MultiWorkerMirroredStrategy as threads of the test.

#include "catch.hpp"

#include <distribute/base/parallel.hpp>
#include <distribute/device/device.hpp>
#include <distribute/strategy/multi_worker_extended.hpp>
#include <distribute/strategy/strategy.hpp>

#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <vector>

/// Runs `body(strategy, worker)` for every worker; the messages of their errors, "" for none.
inline std::vector<std::string> run_workers(
    int workers, int replicas, const std::function<void(distribute::Strategy&, int worker)>& body,
    double timeout_seconds = 60) {
  using namespace distribute;
  auto groups =
      collective::make_thread_workers(workers, replicas, {.timeout_seconds = timeout_seconds});
  config::set_logical_device_configuration(replicas);
  std::vector<std::string> errors(static_cast<size_t>(workers));
  std::vector<std::thread> threads;
  for (int w = 0; w < workers; ++w)
    threads.emplace_back([&, w] {
      try {
        std::vector<std::string> devices;
        for (int i = 0; i < replicas; ++i) devices.push_back("/cpu:" + std::to_string(i));
        set_intra_op_threads(1);
        Strategy strategy(std::make_unique<strategy_internal::MultiWorkerExtended>(
            devices, std::move(groups[size_t(w)]),
            strategy_internal::WorkerTask{.type = "worker", .index = w, .is_chief = w == 0},
            CommunicationOptions{}));
        body(strategy, w);
      } catch (const std::exception& error) {
        errors[size_t(w)] = error.what();
      }
    });
  for (std::thread& thread : threads) thread.join();
  return errors;
}

inline void run_clean(int workers, int replicas,
                      const std::function<void(distribute::Strategy&, int)>& body) {
  for (const std::string& error : run_workers(workers, replicas, body)) CHECK(error == "");
}

/// For the threads of workers, where a test framework's checks may not be used.
inline void require(bool right, const char* what) {
  if (!right) throw distribute::InternalError(distribute::concat("wrong: ", what));
}
