#pragma once
/// Messages between clients and servers in calls: the structs of the methods "ps/...".

#include <distribute/base/config.hpp>
#include <distribute/net/message.hpp>
#include <distribute/parameter_server/variable_spec.hpp>
#include <distribute/rpc/detail/tensor_codec.hpp>

#include <cstdint>
#include <string>

namespace distribute::parameter_server {

struct PlaceCall {  // ps/place, of server 0, gives the server's number
  std::string key = {};
  Shape shape = {};
  DType dtype = DType::Float32;
  int32_t server = -1;  // -1: any
  std::string colocate_with = {};
  Placement placement = Placement::RoundRobin;

  void fields(net::FieldVisitor& visit) {
    visit("key", key)("shape", shape)("dtype", dtype, DType::Bool)("server", server);
    visit("colocate_with", colocate_with)("placement", placement, Placement::GreedyBytes);
  }
};

struct VariableCall {       // ps/create gives CreatedAnswer, ps/attach the handle
  int64_t nanoseconds = 0;  // time that the caller waits
  std::string key = {};
  Shape shape = {};
  DType dtype = DType::Float32;

  void fields(net::FieldVisitor& visit) {
    visit("nanoseconds", nanoseconds)("key", key)("shape", shape)("dtype", dtype, DType::Bool);
  }
};

struct CreatedAnswer {
  int32_t handle = 0;
  bool initialize = false;  // the caller writes the first value, then calls ps/created

  void fields(net::FieldVisitor& visit) { visit("handle", handle)("initialize", initialize); }
};

struct WaitCall {  // ps/find gives the server's number, ps/get the value
  int64_t nanoseconds = 0;
  std::string key = {};

  void fields(net::FieldVisitor& visit) { visit("nanoseconds", nanoseconds)("key", key); }
};

struct SetCall {  // ps/set
  std::string key = {}, value = {};

  void fields(net::FieldVisitor& visit) { visit("key", key)("value", value); }
};

struct SyncCall {  // ps/sync gives a SyncRounds::Token
  int64_t nanoseconds = 0;
  int64_t push = 0;     // its number in the client
  int64_t counter = 0;  // a variable
  SyncOptions sync = {};

  void fields(net::FieldVisitor& visit) {
    visit("nanoseconds", nanoseconds)("push", push)("counter", counter);
    visit("replicas_to_aggregate", sync.replicas_to_aggregate);
    visit("total_num_replicas", sync.total_num_replicas)("num_init_tokens", sync.num_init_tokens);
    visit("local_step", sync.local_step);
  }
};

}  // namespace distribute::parameter_server
