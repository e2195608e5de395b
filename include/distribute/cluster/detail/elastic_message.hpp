#pragma once
/// What workers that meet say to each other.

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

/// Answers on such a connection; after Accepted another one follows.
enum class MeetFrame : uint16_t {
  Accepted = 64,  // kTrains, kLeads, or kLooks while it looks for one that leads
  Follow,         // the index of the worker that leads, or -1
  Formed,         // MeetResult
  Refused,        // its options, which this worker's are not
  Finished,       // the job has
};
inline constexpr std::string_view kTrains = "trains", kLeads = "leads", kLooks = "looks";

/// A worker that wants to take part, as it stands in the handshake's detail.
struct MeetRequest {
  ElasticState state;
  int64_t seen = 0;        // the latest generation it has been in
  uint64_t options = 0;    // checksum of what must agree
  bool only_asks = false;  // who leads, and does not wait

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

/// The next generation out of those who ask, by index: those who have the newest state first, where
/// there is not room for all, and they are `current`.
MeetResult choose_members(const std::vector<std::pair<int, MeetRequest>>& all, int most);

}  // namespace distribute::cluster_internal
