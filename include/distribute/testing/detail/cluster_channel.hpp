#pragma once
/// The messages that a task and its ProcessCluster exchange over descriptor 3.

#include <distribute/base/config.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace distribute::testing_internal {

inline constexpr int kChannelDescriptor = 3;

/// Names of environment variables.
inline constexpr const char* kFunctionVariable = "DISTRIBUTE_CLUSTER_FUNCTION";
inline constexpr const char* kArgumentVariable = "DISTRIBUTE_CLUSTER_ARGUMENT";
inline constexpr const char* kTaskTypeVariable = "DISTRIBUTE_CLUSTER_TASK_TYPE";
inline constexpr const char* kTaskIndexVariable = "DISTRIBUTE_CLUSTER_TASK_INDEX";

enum class ChannelKind : char {
  Result = 'R',   // task -> test
  Error = 'E',    // task -> test: status code, blank, message
  Barrier = 'B',  // task -> test: has arrived; test -> task: go on
};

struct ChannelMessage {
  ChannelKind kind;
  std::string text;
};

/// Encodes a message as kind, length (uint32) and text.
std::string encode_message(ChannelKind kind, std::string_view text);

/// Removes the first whole message from the front of `bytes` and returns it, if there is one.
std::optional<ChannelMessage> take_message(std::string& bytes);

}  // namespace distribute::testing_internal
