#pragma once
/// Messages between workers of an elastic job that meet.

#include <distribute/base/config.hpp>
#include <distribute/cluster/detail/elastic_generation.hpp>
#include <distribute/net/message.hpp>

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace distribute::cluster_internal {

/// The purpose of a connection to a worker that may gather the others.
inline constexpr const char* kMeetPurpose = "meet";

/// Answers on such a connection; another one follows Accepted.
enum class MeetFrame : uint16_t {
  Accepted = 64,  // kTrains, kLeads, or kLooks while it looks for one that leads
  Follow,         // the index of the worker that leads, or -1
  Formed,         // MeetResult
  Refused,        // its options; they differ from this worker's
  Finished,       // the job has finished
};
inline constexpr std::string_view kTrains = "trains", kLeads = "leads", kLooks = "looks";

/// A worker that wants to take part; sent as the handshake's detail.
struct MeetRequest {
  ElasticState state;
  int64_t seen = 0;        // the latest generation it has been in
  uint64_t options = 0;    // checksum of the options that must agree
  bool only_asks = false;  // only asks which worker leads, and does not wait

  void fields(net::FieldVisitor& visit) {
    visit("state", state)("seen", seen)("options", options)("only_asks", only_asks);
  }
};

/// A generation, by indices in the job's list.
struct MeetResult {
  int64_t number = 0;
  std::vector<int> members;
  ElasticState state;
  std::vector<bool> current;

  void fields(net::FieldVisitor& visit) {
    visit("number", number)("members", members)("state", state)("current", current);
  }
};
/// Errors  InvalidArgument, also for indices that are not below `workers`.
absl::StatusOr<MeetResult> parse_result(std::string_view text, int workers);

/// Chooses the next generation from the workers that ask, by index. If there is not room for all,
/// those with the newest state, which are `current`, take precedence.
MeetResult choose_members(const std::vector<std::pair<int, MeetRequest>>& all, int most);

}  // namespace distribute::cluster_internal
