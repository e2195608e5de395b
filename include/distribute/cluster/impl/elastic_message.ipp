#pragma once
#include <distribute/cluster/detail/elastic_message.hpp>
#include <distribute/net/bytes.hpp>

#include <algorithm>

namespace distribute::cluster_internal {

DISTRIBUTE_INLINE std::string encode_request(const MeetRequest& request) {
  net::ByteWriter writer;
  writer.number(request.state.generation).number(request.state.step);
  writer.number(request.seen).number(request.options).number(uint8_t(request.only_asks));
  return writer.take();
}

DISTRIBUTE_INLINE absl::StatusOr<MeetRequest> parse_request(std::string_view text) {
  net::ByteReader reader(text);
  MeetRequest request;
  request.state.generation = reader.number<int64_t>();
  request.state.step = reader.number<int64_t>();
  request.seen = reader.number<int64_t>();
  request.options = reader.number<uint64_t>();
  request.only_asks = reader.number<uint8_t>() != 0;
  if (!reader.finished()) return absl::InvalidArgumentError("a worker's request is damaged");
  return request;
}

DISTRIBUTE_INLINE std::string encode_result(const MeetResult& result) {
  net::ByteWriter writer;
  writer.number(result.number).number(result.state.generation).number(result.state.step);
  writer.number(uint32_t(result.members.size()));
  for (size_t rank = 0; rank < result.members.size(); ++rank)
    writer.number(int32_t(result.members[rank])).number(uint8_t(result.current[rank]));
  return writer.take();
}

DISTRIBUTE_INLINE absl::StatusOr<MeetResult> parse_result(std::string_view text, int workers) {
  net::ByteReader reader(text);
  MeetResult result;
  result.number = reader.number<int64_t>();
  result.state.generation = reader.number<int64_t>();
  result.state.step = reader.number<int64_t>();
  const uint32_t count = std::min(reader.number<uint32_t>(), uint32_t(workers));
  for (uint32_t rank = 0; rank < count; ++rank) {
    result.members.push_back(reader.number<int32_t>());
    result.current.push_back(reader.number<uint8_t>() != 0);
  }
  const bool sorted = std::is_sorted(result.members.begin(), result.members.end());
  if (!reader.finished() || result.members.empty() || !sorted || result.members[0] < 0 ||
      result.members.back() >= workers)
    return absl::InvalidArgumentError("the list of the next generation's members is damaged");
  return result;
}

DISTRIBUTE_INLINE MeetResult choose_members(const std::vector<std::pair<int, MeetRequest>>& all,
                                            int most) {
  std::vector<std::pair<int, MeetRequest>> chosen = all;
  const auto by_index = [](const auto& a, const auto& b) { return a.first < b.first; };
  std::sort(chosen.begin(), chosen.end(), by_index);
  std::stable_sort(chosen.begin(), chosen.end(),
                   [](const auto& a, const auto& b) { return a.second.state > b.second.state; });
  MeetResult result;
  result.state = chosen.at(0).second.state;
  if (chosen.size() > size_t(most)) chosen.resize(size_t(most));
  std::sort(chosen.begin(), chosen.end(), by_index);
  for (const auto& [index, request] : all) result.number = std::max(result.number, request.seen);
  ++result.number;
  for (const auto& [index, request] : chosen) {
    // In the first generation no worker has a state yet: all start with the first one's.
    const bool counts = result.state.generation > 0 || result.members.empty();
    result.members.push_back(index);
    result.current.push_back(counts && request.state == result.state);
  }
  return result;
}

}  // namespace distribute::cluster_internal
