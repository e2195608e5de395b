#pragma once
/// Servers and clients as objects of one test process.

#include <distribute/parameter_server/detail/client.hpp>
#include <distribute/parameter_server/parameter_server.hpp>
#include <distribute/testing/thread_cluster.hpp>

#include <tests/rpc/rpc_support.hpp>

#include <functional>
#include <memory>
#include <vector>

namespace ps_test {

using namespace rpc_test;
using distribute::DType;
using distribute::Shape;
using distribute::Tensor;
using distribute::parameter_server::Client;
using distribute::parameter_server::ClientOptions;
using distribute::parameter_server::Existing;
using distribute::parameter_server::InitialValue;
using distribute::parameter_server::ParameterServer;
using distribute::parameter_server::Placement;
using distribute::parameter_server::ServerOptions;
using distribute::parameter_server::SyncOptions;
using distribute::parameter_server::Transport;
using distribute::parameter_server::VariableSpec;

/// `servers` parameter servers, which serve, and workers that may become clients.
class Servers {
 public:
  explicit Servers(int servers = 2, int workers = 3, ServerOptions options = {})
      : job_({{"ps", servers}, {"worker", workers}}) {
    for (int i = 0; i < servers; ++i)
      servers_.push_back(std::make_unique<ParameterServer>(job_.start("ps", i), options));
  }
  std::unique_ptr<Client> client(int worker, ClientOptions options = {}) {
    return std::make_unique<Client>(job_.start("worker", worker), options);
  }
  /// Clients on threads of their own.
  void run(int workers, const std::function<void(int, Client&)>& body, ClientOptions options = {}) {
    std::vector<std::unique_ptr<Client>> clients;
    for (int i = 0; i < workers; ++i) clients.push_back(client(i, options));
    distribute::testing::run_on_threads(workers, [&](int i) { body(i, *clients[size_t(i)]); });
  }
  ParameterServer& operator[](int i) { return *servers_[size_t(i)]; }
  void stop(int i) { servers_[size_t(i)].reset(); }

 private:
  Job job_;
  std::vector<std::unique_ptr<ParameterServer>> servers_;
};

/// The description of an SGD step: w -= rate g.
inline std::string sgd(float rate, int updates = 1) {
  std::string decayed = "false";
  for (int i = 1; i < updates; ++i) decayed += ",false";
  return R"({"class_name":"SGD","config":{},"rate":)" + std::to_string(rate) +
         R"(,"done":0,"decayed":[)" + decayed + "]}";
}

inline std::string adam(int step) {
  return R"({"class_name":"Adam","config":{},"rate":0.01,"done":)" + std::to_string(step) +
         R"(,"decayed":[false]})";
}

inline VariableSpec counter_spec() {
  return {.key = "iterations", .shape = Shape{}, .dtype = DType::Int64};
}
inline InitialValue zero() { return InitialValue::filled(0); }

inline Tensor full(const Shape& shape, float value) { return distribute::fill(shape, value); }

}  // namespace ps_test
