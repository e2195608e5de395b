#pragma once
#include <distribute/testing/detail/cluster_member.hpp>

#include <cstdlib>

#include <sys/socket.h>

namespace distribute::testing_internal {

DISTRIBUTE_INLINE void ClusterMember::start(launch::ProcessOptions options) {
  options.environment.emplace("DISTRIBUTE_RESTART_COUNT", std::to_string(starts));
  process = std::make_unique<launch::Process>(options);
  ++starts;
  status.reset();
  error.reset();
  channel_bytes.clear();
  at_barrier = false;
}

DISTRIBUTE_INLINE void ClusterMember::read(std::string& log, bool last) {
  const auto take = [&](launch::Descriptor& from, std::string& to, launch::LineBuffer& lines) {
    if (!from) return;
    std::string bytes;
    if (!launch::read_available(from.native(), bytes) || last) from.close();
    to += bytes;
    both += bytes;
    log += lines.add(bytes);
    if (!from) log += lines.finish();
  };
  take(process->out(), out, out_lines);
  take(process->err(), err, err_lines);
  read_channel();
}

DISTRIBUTE_INLINE void ClusterMember::read_channel() {
  launch::Descriptor& channel = process->channel();
  if (channel && !launch::read_available(channel.native(), channel_bytes)) channel.close();
  while (const auto message = take_message(channel_bytes)) {
    if (message->kind == ChannelKind::Result) result = message->text;
    if (message->kind == ChannelKind::Barrier) at_barrier = true;
    if (message->kind == ChannelKind::Error)
      error = {StatusCode(std::atoi(message->text.c_str())),
               message->text.substr(message->text.find(' ') + 1)};
  }
}

DISTRIBUTE_INLINE bool ClusterMember::look_for_end(std::string& log) {
  if (!process || !process->poll()) return false;
  read(log, true);
  status = process->poll();
  process.reset();
  return true;
}

DISTRIBUTE_INLINE void ClusterMember::leave_barrier() {
  at_barrier = false;
  const std::string answer = encode_message(ChannelKind::Barrier, "");
  (void)!::send(process->channel().native(), answer.data(), answer.size(), MSG_NOSIGNAL);
}

DISTRIBUTE_INLINE void ClusterMember::throw_failure() const {
  if (error) throw_error(error->first, task->name() + ": " + error->second);
  constexpr size_t kShown = 4000;
  const std::string shown = both.size() > kShown ? both.substr(both.size() - kShown) : both;
  throw AbortedError(
      str_cat("Subprocess ", task->name(), " ", status->describe(), ". Its output ends:\n", shown));
}

}  // namespace distribute::testing_internal
