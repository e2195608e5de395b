// An engine whose ranks are threads of one process: a message is copied into its receiver's
// mailbox.
#include <distribute/collective/engine_module.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

namespace {

struct Message {
  int from;
  uint32_t tag;
  std::string bytes;
};

struct Receive {
  int from;
  uint32_t tag;
  void* data;
  size_t bytes;
  uint64_t cookie;
};

std::mutex mutex;  // guards all groups

}  // namespace

struct distribute_engine_group {
  int rank = 0;
  std::vector<distribute_engine_group*> ranks;
  std::deque<Message> mailbox;
  std::deque<Receive> receives;
  std::deque<distribute_engine_event> events;

  /// Gives each waiting receive the first message that is for it.
  void match() {
    for (auto receive = receives.begin(); receive != receives.end();) {
      const auto message = std::find_if(mailbox.begin(), mailbox.end(), [&](const Message& m) {
        return m.from == receive->from && m.tag == receive->tag;
      });
      if (message == mailbox.end()) {
        ++receive;
        continue;
      }
      std::memcpy(receive->data, message->bytes.data(),
                  std::min(receive->bytes, message->bytes.size()));
      events.push_back({receive->cookie, 0, -1});
      mailbox.erase(message);
      receive = receives.erase(receive);
    }
  }
};

namespace {

using Group = distribute_engine_group;
using Failure = distribute_engine_error;

const char* library() { return "mailboxes of threads"; }

int open_group(Group** group, Failure*) {
  *group = new Group();
  return 0;
}

int address(Group* group, void* out, size_t* bytes, Failure*) {
  if (*bytes >= sizeof group) std::memcpy(out, &group, sizeof group);
  *bytes = sizeof group;
  return 0;
}

int connect(Group* group, int rank, int size, const void* const* addresses, const size_t*,
            Failure*) {
  const std::lock_guard lock(mutex);
  group->rank = rank;
  group->ranks.resize(size_t(size));
  for (int r = 0; r < size; ++r) std::memcpy(&group->ranks[size_t(r)], addresses[r], sizeof group);
  return 0;
}

int rank_of(Group* group) { return group->rank; }
int size_of(Group* group) { return int(group->ranks.size()); }

int send(Group* group, int to, uint32_t tag, const void* data, size_t bytes, uint64_t cookie,
         Failure*) {
  const std::lock_guard lock(mutex);
  Group& receiver = *group->ranks[size_t(to)];
  receiver.mailbox.push_back({group->rank, tag, {static_cast<const char*>(data), bytes}});
  receiver.match();
  group->events.push_back({cookie, 0, -1});
  return 0;
}

int receive(Group* group, int from, uint32_t tag, void* data, size_t bytes, uint64_t cookie,
            Failure*) {
  const std::lock_guard lock(mutex);
  group->receives.push_back({from, tag, data, bytes, cookie});
  group->match();
  return 0;
}

int progress(Group* group, distribute_engine_event* events, int most, int* moved, Failure*) {
  const std::lock_guard lock(mutex);
  int count = 0;
  for (; count < most && !group->events.empty(); ++count) {
    events[count] = group->events.front();
    group->events.pop_front();
  }
  if (moved) *moved = count > 0;
  return count;
}

int wait_handle(Group* group) {
  const std::lock_guard lock(mutex);
  return group->events.empty() ? -2 : -1;
}

void close_group(Group*, int) {}  // the others may still send to it: it stays to the end

// In the order of the interface. The name says in whose place the engine stands; there is no
// all_reduce of its own.
constexpr distribute_engine_module kModule = {DISTRIBUTE_ENGINE_ABI,
                                              sizeof(distribute_engine_module),
                                              0,
                                              0,
                                              "ucx",
                                              library,
                                              open_group,
                                              address,
                                              connect,
                                              rank_of,
                                              size_of,
                                              send,
                                              receive,
                                              nullptr,
                                              progress,
                                              wait_handle,
                                              close_group};

}  // namespace

extern "C" const distribute_engine_module* distribute_engine() { return &kModule; }
