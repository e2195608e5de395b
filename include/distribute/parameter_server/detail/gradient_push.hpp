#pragma once
/// Sends gradients to their servers, so that a push is applied completely or not at all.

#include <distribute/base/config.hpp>
#include <distribute/parameter_server/detail/gradient_memory.hpp>
#include <distribute/parameter_server/detail/known_variables.hpp>
#include <distribute/parameter_server/detail/late_waits.hpp>
#include <distribute/parameter_server/detail/push.hpp>
#include <distribute/parameter_server/detail/push_message.hpp>
#include <distribute/parameter_server/detail/server_lanes.hpp>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace distribute::parameter_server {

/// Pushes in progress. Thread-compatible; the lanes, the variables and the waits must outlive it.
/// 1. Every server first gets its part and stages it, then a few bytes to each commit it.
/// 2. At most two pushes are in progress.
class GradientPush {
 public:
  GradientPush(ServerLanes& lanes, KnownVariables& variables, LateWaits& waits, bool bf16_on_wire);

  /// Returns  as Client::push(). A synchronous push waits for its token without the lock.
  int64_t push(const Push& push, std::unique_lock<std::recursive_mutex>& lock);
  /// Blocks  until all pushes are applied. Throws  their errors.
  void flush();

 private:
  using Answer = ServerLanes::Answer;
  using Places = std::vector<std::shared_ptr<void>>;
  struct Part {  // of one push, for one lane
    ServerLink::Request request;
    std::vector<UpdateMessage> updates;
    uint32_t optimizer = 0;
    Places places;  // kept until all is applied
  };
  struct Flow {                           // of a lane
    std::deque<Answer> under_way;         // answers of the flushes behind pushes
    std::vector<Answer> background;       // checked when they have come
    std::vector<std::string> optimizers;  // optimizers that the server knows, by their ids
    uint32_t registered = 0;              // number of ids used
  };

  void wait_for_room(int lane);
  std::map<int, Part> divide(const Push& push);
  void add_update(Part& part, const Push& push, size_t index);
  void add_gradient(Part& part, UpdateMessage& update, const KnownVariable& variable,
                    const Tensor& gradient);
  std::shared_ptr<GradientPlace> place_of(const KnownVariable& variable, const Tensor& gradient);
  uint32_t optimizer_id(int lane, const std::string& optimizer);
  void add_floats(Part& part, const Tensor& values);
  std::map<int, Answer> stage(const Push& push, std::map<int, Part> parts, bool commit);
  std::string finish_staging(int lane, const Answer& answer);
  int64_t commit(const Push& push, const std::vector<int>& involved);
  int64_t synchronize(const Push& push, std::unique_lock<std::recursive_mutex>& lock);
  std::string wait_for_token(int server, const std::string& request, net::Deadline deadline);
  void begin_flush(int lane, Places places);

  ServerLanes& lanes_;
  KnownVariables& variables_;
  LateWaits& waits_;
  const bool bf16_on_wire_;
  std::vector<Flow> flows_;  // of the lanes
  int64_t pushes_ = 0;
};

}  // namespace distribute::parameter_server
