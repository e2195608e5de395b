#pragma once
/// Options of the connection between a task and parameter servers.

#include <distribute/base/config.hpp>
#include <distribute/parameter_server/variable_spec.hpp>

#include <cstdint>

namespace distribute::parameter_server {

enum class Transport : uint8_t { Auto, SharedMemory, Tcp };  // how values reach servers

struct ClientOptions {  // options of Client
  Placement placement = Placement::RoundRobin;
  /// Sends float32 values and gradients as bfloat16, except through shared memory.
  bool bf16_on_wire = false;
  /// Auto uses shared memory with servers on the same host.
  Transport transport = Transport::Auto;
  /// Number of TCP connections to each server; variables are distributed over them by bytes. 0: 1
  /// on this host, else 4.
  int flows = 0;
};

}  // namespace distribute::parameter_server
