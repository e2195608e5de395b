#pragma once
/// A server of S3's protocol that throws away what it is sent, at a limited speed: what an upload
/// costs its sender, without a store on the same cores. It knows no objects.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/// A process of its own, which runs only while a core is idle (SCHED_IDLE). It takes bodies without
/// copying them (MSG_TRUNC), so that little of it is left to disturb; cpu_seconds() tells how much.
class ObjectSink {
 public:
  /// Before the first thread of the program: it forks.
  explicit ObjectSink(double bytes_per_second) : bytes_per_second_(bytes_per_second) {
    listener_ = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    if (::bind(listener_, any, size) != 0 || ::listen(listener_, 16) != 0) std::abort();
    ::getsockname(listener_, any, &size);
    port_ = ntohs(address.sin_port);
    child_ = ::fork();
    if (child_ == 0) serve();
    ::close(listener_);
  }
  ~ObjectSink() { ::kill(child_, SIGKILL); }

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  double cpu_seconds() const {
    clockid_t clock;
    timespec time{};
    if (::clock_getcpuclockid(child_, &clock) == 0) ::clock_gettime(clock, &time);
    return double(time.tv_sec) + double(time.tv_nsec) * 1e-9;
  }

 private:
  using Clock = std::chrono::steady_clock;

  [[noreturn]] void serve() {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const sched_param none{};
    ::sched_setscheduler(0, SCHED_IDLE, &none);
    while (true) {
      const int socket = ::accept(listener_, nullptr, nullptr);
      if (socket >= 0) std::thread([this, socket] { answer_all(socket); }).detach();
    }
  }

  void answer_all(int socket) {
    std::string head;
    while (true) {
      size_t end;
      while ((end = head.find("\r\n\r\n")) == std::string::npos) {
        char bytes[4096];
        const ssize_t got = ::recv(socket, bytes, sizeof bytes, 0);
        if (got <= 0) return void(::close(socket));
        head.append(bytes, size_t(got));
      }
      const size_t length = head.find("Content-Length: ");
      const size_t body = length < end ? size_t(std::atoll(head.c_str() + length + 16)) : 0;
      const std::string request = head.substr(0, head.find('\r'));
      head.erase(0, end + 4);
      const size_t came = std::min(body, head.size());
      head.erase(0, came);
      if (!discard(socket, body - came)) return void(::close(socket));
      const std::string answer = answer_to(request);
      if (::send(socket, answer.data(), answer.size(), MSG_NOSIGNAL) < 0)
        return void(::close(socket));
    }
  }

  bool discard(int socket, size_t left) {
    char unused;
    while (left > 0) {
      const ssize_t got = ::recv(socket, &unused, std::min(left, size_t{256} << 10), MSG_TRUNC);
      if (got <= 0) return false;
      left -= size_t(got);
      pace(double(got));
    }
    return true;
  }

  /// All connections share the speed.
  void pace(double bytes) {
    const auto cost = Clock::duration(int64_t(bytes / bytes_per_second_ * 1e9));
    const int64_t now = Clock::now().time_since_epoch().count();
    int64_t before = free_at_;
    while (!free_at_.compare_exchange_weak(before, std::max(before, now) + cost.count())) {
    }
    std::this_thread::sleep_until(
        Clock::time_point(Clock::duration(std::max(before, now) + cost.count())));
  }

  static std::string answer_to(const std::string& request) {
    std::string status = "200 OK", body;
    if (request.starts_with("POST") && request.find("?uploads") != std::string::npos)
      body = "<R><UploadId>1</UploadId></R>";
    else if (request.starts_with("POST"))
      body = "<Done/>";
    else if (request.starts_with("GET") && request.find("list-type") != std::string::npos)
      body = "<ListBucketResult></ListBucketResult>";
    else if (request.starts_with("GET"))
      status = "404 Not Found", body = "<Error><Code>NoSuchKey</Code></Error>";
    else if (request.starts_with("HEAD"))
      status = "404 Not Found";
    return "HTTP/1.1 " + status +
           "\r\nETag: \"1\"\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  }

  const double bytes_per_second_;
  std::atomic<int64_t> free_at_{0};  // nanoseconds of Clock, when all that came has been paid
  int listener_ = -1, port_ = 0;
  pid_t child_ = -1;
};
