// The engine over UCX: point-to-point messages on what UCX finds, RDMA, shared memory or TCP.
#include "module_tools.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <unordered_set>

#include <poll.h>

#include <ucp/api/ucp.h>

namespace {

using engines::fail;

int code_of(ucs_status_t status) {
  switch (status) {
    case UCS_ERR_INVALID_PARAM: return engines::kInvalidArgument;
    case UCS_ERR_UNSUPPORTED: return engines::kUnimplemented;
    case UCS_ERR_MESSAGE_TRUNCATED: return engines::kInternal;
    default: return engines::kUnavailable;
  }
}

int check(ucs_status_t status, const char* what, distribute_engine_error* error) {
  if (status == UCS_OK) return 0;
  return fail(error, code_of(status),
              std::string("UCX: ") + what + ": " + ucs_status_string(status));
}

#define RETURN_IF_FAILED(call, what) \
  if (const int code = check(call, what, error)) return code

/// UCX cuts what goes over TCP into 8 KiB, which gives a quarter of the speed. There is no other
/// way in for this setting; what the user has set stays. Without TCP, UCX would warn of it.
void enlarge_tcp_pieces() {
  const char* transports = std::getenv("UCX_TLS");
  const char* const with_tcp[] = {"tcp", "all", "^"};  // "^sm": all but shared memory
  if (transports && std::none_of(with_tcp, with_tcp + 3, [&](const char* name) {
        return std::strstr(transports, name) != nullptr;
      }))
    return;
  for (const char* name : {"UCX_TCP_TX_SEG_SIZE", "UCX_TCP_RX_SEG_SIZE"}) ::setenv(name, "256K", 0);
}

/// UCX's library of this process, with the devices open; shared by all groups.
class Context {
 public:
  int open(distribute_engine_error* error) {
    const std::lock_guard lock(mutex_);
    if (users_++ > 0) return 0;
    enlarge_tcp_pieces();
    ucp_config_t* config = nullptr;
    ucs_status_t status = ucp_config_read(nullptr, nullptr, &config);
    if (status == UCS_OK) {
      ucp_params_t params = {};
      params.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_MT_WORKERS_SHARED;
      params.features = UCP_FEATURE_TAG | UCP_FEATURE_WAKEUP;
      params.mt_workers_shared = 1;
      status = ucp_init(&params, config, &context_);
      ucp_config_release(config);
    }
    if (status != UCS_OK) --users_;
    return check(status, "cannot start (see UCX_LOG_LEVEL=info, UCX_TLS)", error);
  }
  void close() {
    const std::lock_guard lock(mutex_);
    if (--users_ == 0) ucp_cleanup(context_);
  }
  ucp_context_h get() const { return context_; }
  static Context& of_process() {
    static auto* context = new Context;  // groups may outlive main()
    return *context;
  }

 private:
  std::mutex mutex_;  // guards all below
  int users_ = 0;
  ucp_context_h context_ = nullptr;
};

}  // namespace

struct distribute_engine_group {
  ucp_worker_h worker = nullptr;
  int handle = -1;
  int rank = 0, size = 1;
  std::vector<ucp_ep_h> ends;
  std::unordered_set<void*> receives;  // that have not ended
  engines::Events events;
};

namespace {

/// UCX calls back inside of its functions only.
thread_local distribute_engine_group* calling = nullptr;

struct Calling {
  explicit Calling(distribute_engine_group* group) { calling = group; }
  ~Calling() { calling = nullptr; }
};

void ended(void* request, ucs_status_t status, void* cookie) {
  if (calling && status != UCS_ERR_CANCELED)
    calling->events.add(uint64_t(uintptr_t(cookie)), status == UCS_OK ? 0 : code_of(status));
  ucp_request_free(request);
}

void received(void* request, ucs_status_t status, const ucp_tag_recv_info_t*, void* cookie) {
  if (calling) calling->receives.erase(request);
  ended(request, status, cookie);
}

void lost(void* argument, ucp_ep_h, ucs_status_t status) {
  const uintptr_t rank = reinterpret_cast<uintptr_t>(argument);
  if (calling) calling->events.add(DISTRIBUTE_ENGINE_PEER_LOST, code_of(status), int(rank));
}

const char* library() {
  static const std::string words = std::string("UCX ") + ucp_get_version_string();
  return words.c_str();
}

int open_group(distribute_engine_group** out, distribute_engine_error* error) {
  Context& context = Context::of_process();
  if (const int code = context.open(error)) return code;
  auto* group = new distribute_engine_group;
  ucp_worker_params_t params = {};
  params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  params.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  ucs_status_t status = ucp_worker_create(context.get(), &params, &group->worker);
  if (status == UCS_OK) {
    status = ucp_worker_get_efd(group->worker, &group->handle);
    if (status != UCS_OK) ucp_worker_destroy(group->worker);
  }
  if (status != UCS_OK) {
    delete group;
    context.close();
    return check(status, "no worker", error);
  }
  *out = group;
  return 0;
}

int address(distribute_engine_group* group, void* out, size_t* bytes,
            distribute_engine_error* error) {
  ucp_address_t* mine = nullptr;
  size_t length = 0;
  RETURN_IF_FAILED(ucp_worker_get_address(group->worker, &mine, &length), "no address");
  if (length <= *bytes) std::memcpy(out, mine, length);
  *bytes = length;
  ucp_worker_release_address(group->worker, mine);
  return 0;
}

int connect(distribute_engine_group* group, int rank, int size, const void* const* addresses,
            const size_t*, distribute_engine_error* error) {
  const Calling scope(group);
  group->rank = rank;
  group->size = size;
  group->ends.assign(size_t(size), nullptr);
  for (int peer = 0; peer < size; ++peer) {
    if (peer == rank) continue;
    ucp_ep_params_t params = {};
    params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                        UCP_EP_PARAM_FIELD_ERR_HANDLER;
    params.address = static_cast<const ucp_address_t*>(addresses[peer]);
    params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
    params.err_handler.cb = lost;
    params.err_handler.arg = reinterpret_cast<void*>(uintptr_t(peer));
    ucp_ep_h& end = group->ends[size_t(peer)];
    ucs_status_t status = ucp_ep_create(group->worker, &params, &end);
    if (status == UCS_ERR_UNREACHABLE) {  // what UCX_TLS leaves cannot tell that a peer is gone
      params.err_mode = UCP_ERR_HANDLING_MODE_NONE;
      status = ucp_ep_create(group->worker, &params, &end);
    }
    if (status != UCS_OK)
      return fail(error, code_of(status),
                  "UCX: no way to rank " + std::to_string(peer) + ": " + ucs_status_string(status) +
                      " (see UCX_TLS, UCX_NET_DEVICES)");
  }
  return 0;
}

uint64_t tag_of(int sender, uint32_t tag) { return uint64_t(uint32_t(sender)) << 32 | tag; }

/// What a call that may end at once has returned.
int begun(distribute_engine_group* group, ucs_status_ptr_t request, const char* what,
          uint64_t cookie, distribute_engine_error* error) {
  if (UCS_PTR_IS_ERR(request)) return check(UCS_PTR_STATUS(request), what, error);
  if (request == nullptr) group->events.add(cookie);
  return 0;
}

ucp_request_param_t parameters(uint64_t cookie) {
  ucp_request_param_t param = {};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  param.user_data = reinterpret_cast<void*>(uintptr_t(cookie));
  return param;
}

int send(distribute_engine_group* group, int to, uint32_t tag, const void* data, size_t bytes,
         uint64_t cookie, distribute_engine_error* error) {
  const Calling scope(group);
  ucp_request_param_t param = parameters(cookie);
  param.cb.send = ended;
  return begun(
      group,
      ucp_tag_send_nbx(group->ends[size_t(to)], data, bytes, tag_of(group->rank, tag), &param),
      "send", cookie, error);
}

int receive(distribute_engine_group* group, int from, uint32_t tag, void* data, size_t bytes,
            uint64_t cookie, distribute_engine_error* error) {
  const Calling scope(group);
  ucp_request_param_t param = parameters(cookie);
  param.cb.recv = received;
  const ucs_status_ptr_t request =
      ucp_tag_recv_nbx(group->worker, data, bytes, tag_of(from, tag), ~uint64_t{0}, &param);
  if (request != nullptr && !UCS_PTR_IS_ERR(request)) group->receives.insert(request);
  return begun(group, request, "receive", cookie, error);
}

int progress(distribute_engine_group* group, distribute_engine_event* events, int most, int* moved,
             distribute_engine_error*) {
  const Calling scope(group);
  const auto is_enough = [&] { return most > 0 && !group->events.empty(); };
  while (!is_enough() && ucp_worker_progress(group->worker))
    if (moved) *moved = 1;
  return group->events.take(events, most);
}

int wait_handle(distribute_engine_group* group) {
  const Calling scope(group);
  return group->events.empty() && ucp_worker_arm(group->worker) == UCS_OK ? group->handle : -1;
}

/// Progress until the requests have ended, or for `seconds`. Asleep where it is others' turn.
void wait_for(distribute_engine_group* group, std::vector<void*> requests, double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  for (void* request : requests) {
    while (ucp_request_check_status(request) == UCS_INPROGRESS && Clock::now() < end) {
      if (ucp_worker_progress(group->worker) || ucp_worker_arm(group->worker) != UCS_OK) continue;
      pollfd polled = {group->handle, POLLIN, 0};
      ::poll(&polled, 1, 10);
    }
    ucp_request_free(request);
  }
}

/// Takes messages without a receiver, as a broken group leaves them: UCX would warn of them.
void drop_unexpected(distribute_engine_group* group) {
  ucp_tag_recv_info_t info;
  while (const ucp_tag_message_h message = ucp_tag_probe_nb(group->worker, 0, 0, 1, &info)) {
    ucp_request_param_t param = {};
    void* request = ucp_tag_msg_recv_nbx(group->worker, nullptr, 0, message, &param);
    if (request != nullptr && !UCS_PTR_IS_ERR(request)) ucp_request_free(request);
  }
}

void close_group(distribute_engine_group* group, int broken) {
  {
    const Calling scope(group);
    const std::vector<void*> receives(group->receives.begin(), group->receives.end());
    for (void* request : receives) ucp_request_cancel(group->worker, request);
    while (ucp_worker_progress(group->worker)) {
    }
    drop_unexpected(group);
    ucp_request_param_t plain = {};
    void* flushing = broken ? nullptr : ucp_worker_flush_nbx(group->worker, &plain);
    if (flushing != nullptr && !UCS_PTR_IS_ERR(flushing)) wait_for(group, {flushing}, 5);
    std::vector<void*> closing;
    for (ucp_ep_h end : group->ends) {
      if (!end) continue;
      ucp_request_param_t param = {};
      param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
      param.flags = UCP_EP_CLOSE_FLAG_FORCE;  // the polite way waits for the other rank
      void* request = ucp_ep_close_nbx(end, &param);
      if (request != nullptr && !UCS_PTR_IS_ERR(request)) closing.push_back(request);
    }
    wait_for(group, std::move(closing), 0.2);
    drop_unexpected(group);
  }
  ucp_worker_destroy(group->worker);
  delete group;
  Context::of_process().close();
}

const distribute_engine_module kModule = {
    DISTRIBUTE_ENGINE_ABI,
    sizeof(distribute_engine_module),
    DISTRIBUTE_ENGINE_NEEDS_TURNS,
    0,
    "ucx",
    library,
    open_group,
    address,
    connect,
    [](distribute_engine_group* group) { return group->rank; },
    [](distribute_engine_group* group) { return group->size; },
    send,
    receive,
    nullptr,
    progress,
    wait_handle,
    close_group,
};

}  // namespace

const distribute_engine_module* distribute_engine() { return &kModule; }
