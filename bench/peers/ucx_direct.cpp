// UCX called directly beside a plain socket, between two processes of one host, round by round.
// Usage: ucx_direct exchange|pull SECONDS BYTES...
//   exchange  what an all-reduce moves, without the sum: both ranks send at once; above 4 KiB
//   halves,
//             twice.
//   pull      a question of 8 bytes, and BYTES as the answer, as from a parameter server.
// A line for each size: bytes, best us of UCX, of the socket, CPU us of a round of UCX, of the
// socket. Both wait as the library does: UCX on its descriptor, after 8 us of looking.
#include <ucp/api/ucp.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double cpu_seconds() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  return double(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
         1e-6 * double(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
}

void require(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "ucx_direct: %s failed\n", what);
  std::_Exit(1);
}

/// Bytes in one direction and in the other; either may be 0.
struct Move {
  const char* out;
  size_t sends;
  char* in;
  size_t comes;
};

class Socket {
 public:
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  void run(const Move& move) {
    for (size_t sent = 0, come = 0; sent < move.sends || come < move.comes;) {
      ssize_t out = 0, in = 0;
      if (sent < move.sends)
        out = ::send(descriptor_, move.out + sent, move.sends - sent, MSG_DONTWAIT);
      if (come < move.comes)
        in = ::recv(descriptor_, move.in + come, move.comes - come, MSG_DONTWAIT);
      sent += size_t(std::max<ssize_t>(out, 0));
      come += size_t(std::max<ssize_t>(in, 0));
      if (out > 0 || in > 0) continue;
      const int events = (sent < move.sends ? POLLOUT : 0) | (come < move.comes ? POLLIN : 0);
      pollfd polled = {descriptor_, short(events), 0};
      ::poll(&polled, 1, -1);
    }
  }

 private:
  const int descriptor_;
};

class Ucx {
 public:
  /// The addresses go through a connection of both.
  explicit Ucx(Socket& known) {
    for (const char* name : {"UCX_TCP_TX_SEG_SIZE", "UCX_TCP_RX_SEG_SIZE"})
      ::setenv(name, "256K", 0);
    ucp_config_t* config = nullptr;
    require(ucp_config_read(nullptr, nullptr, &config) == UCS_OK, "ucp_config_read");
    ucp_params_t params = {};
    params.field_mask = UCP_PARAM_FIELD_FEATURES;
    params.features = UCP_FEATURE_TAG | UCP_FEATURE_WAKEUP;
    ucp_context_h context = nullptr;
    require(ucp_init(&params, config, &context) == UCS_OK, "ucp_init");
    ucp_worker_params_t worker = {};
    worker.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
    worker.thread_mode = UCS_THREAD_MODE_SERIALIZED;
    require(ucp_worker_create(context, &worker, &worker_) == UCS_OK, "ucp_worker_create");
    require(ucp_worker_get_efd(worker_, &descriptor_) == UCS_OK, "ucp_worker_get_efd");
    ucp_address_t* mine = nullptr;
    size_t length = 0, others = 0;
    require(ucp_worker_get_address(worker_, &mine, &length) == UCS_OK, "ucp_worker_get_address");
    known.run({reinterpret_cast<char*>(&length), 8, reinterpret_cast<char*>(&others), 8});
    std::vector<char> address(others);
    known.run({reinterpret_cast<char*>(mine), length, address.data(), others});
    ucp_ep_params_t end = {};
    end.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                     UCP_EP_PARAM_FIELD_ERR_HANDLER;
    end.address = reinterpret_cast<const ucp_address_t*>(address.data());
    end.err_mode = UCP_ERR_HANDLING_MODE_PEER;
    end.err_handler.cb = [](void*, ucp_ep_h, ucs_status_t) { require(false, "the connection"); };
    require(ucp_ep_create(worker_, &end, &end_) == UCS_OK, "ucp_ep_create");
  }

  void run(const Move& move) {
    const ucp_request_param_t param = {};
    ucs_status_ptr_t requests[2] = {};
    if (move.comes > 0)
      requests[0] = ucp_tag_recv_nbx(worker_, move.in, move.comes, 7, ~uint64_t{0}, &param);
    if (move.sends > 0) requests[1] = ucp_tag_send_nbx(end_, move.out, move.sends, 7, &param);
    for (double idle = 0; !both_ended(requests);) {
      if (ucp_worker_progress(worker_)) {
        idle = 0;
        continue;
      }
      if (idle == 0) idle = seconds();
      if (seconds() - idle < 8e-6 || ucp_worker_arm(worker_) != UCS_OK) continue;
      pollfd polled = {descriptor_, POLLIN, 0};
      ::poll(&polled, 1, -1);
    }
  }

 private:
  static bool both_ended(ucs_status_ptr_t (&requests)[2]) {
    for (ucs_status_ptr_t& request : requests) {
      require(!UCS_PTR_IS_ERR(request), "a message");
      if (!request || ucp_request_check_status(request) == UCS_INPROGRESS) continue;
      ucp_request_free(request);
      request = nullptr;
    }
    return !requests[0] && !requests[1];
  }

  ucp_worker_h worker_ = nullptr;
  ucp_ep_h end_ = nullptr;
  int descriptor_ = -1;
};

struct Times {
  double best = 1e9, cpu = 0;
  int rounds = 0;
};

template <class Way>
void measure(Way& way, const std::vector<Move>& moves, Times& times) {
  const double start = seconds(), cpu = cpu_seconds();
  for (const Move& move : moves) way.run(move);
  times.best = std::min(times.best, seconds() - start);
  times.cpu += cpu_seconds() - cpu;
  ++times.rounds;
}

/// A connection of this process and the one that it starts; true in the latter.
bool start_other(int& descriptor) {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto* name = reinterpret_cast<sockaddr*>(&address);
  require(::bind(listener, name, length) == 0 && ::listen(listener, 1) == 0, "bind");
  ::getsockname(listener, name, &length);
  const bool other = ::fork() == 0;
  descriptor = other ? ::socket(AF_INET, SOCK_STREAM, 0) : ::accept(listener, nullptr, nullptr);
  if (other) require(::connect(descriptor, name, length) == 0, "connect");
  const int yes = 1;
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  return other;
}

}  // namespace

int main(int argc, char** argv) {
  require(argc > 3, "reading the arguments");
  const bool pulls = std::string(argv[1]) == "pull";
  int descriptor = -1;
  const bool other = start_other(descriptor);
  Socket socket(descriptor);
  Ucx ucx(socket);
  for (int i = 3; i < argc; ++i) {
    const size_t bytes = std::strtoull(argv[i], nullptr, 10),
                 part = bytes > 4096 ? bytes / 2 : bytes;
    std::vector<char> out(bytes, 1), in(bytes);
    std::vector<Move> moves(!pulls && bytes > 4096 ? 2 : 1, {out.data(), part, in.data(), part});
    if (pulls && other) moves = {{nullptr, 0, in.data(), 8}, {out.data(), bytes, nullptr, 0}};
    if (pulls && !other) moves = {{out.data(), 8, nullptr, 0}, {nullptr, 0, in.data(), bytes}};
    Times of_ucx, of_socket;
    const double end = seconds() + std::atof(argv[2]);
    for (char goes_on = 1, heard = 1; goes_on && heard;) {
      measure(ucx, moves, of_ucx);
      socket.run({&goes_on, 1, &heard, 1});  // both begin the next together
      measure(socket, moves, of_socket);
      goes_on = other || seconds() < end || of_socket.rounds < 10;
      socket.run({&goes_on, 1, &heard, 1});
    }
    if (other) continue;
    std::printf("%zu %.2f %.2f %.2f %.2f\n", bytes, 1e6 * of_ucx.best, 1e6 * of_socket.best,
                1e6 * of_ucx.cpu / of_ucx.rounds, 1e6 * of_socket.cpu / of_socket.rounds);
    std::fflush(stdout);
  }
  if (!other) ::wait(nullptr);
  std::_Exit(0);
}
