#pragma once
/// An HTTP server of the tests on a loopback port, with faults on demand.

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

struct HttpServerRequest {
  std::string method, target;                                // target: path?query as it came
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case
  std::string body;

  std::string header(const std::string& lower_case_name) const {
    for (const auto& [name, value] : headers)
      if (name == lower_case_name) return value;
    return "";
  }
  std::string path() const { return target.substr(0, target.find('?')); }
  std::string query() const {
    const size_t question = target.find('?');
    return question == std::string::npos ? "" : target.substr(question + 1);
  }
};

struct HttpServerReply {
  int status = 200;
  std::string body = "";
  std::vector<std::pair<std::string, std::string>> headers = {};
  int64_t reset_after = -1;     // bytes of the body, then the connection is reset
  int64_t stall_after = -1;     // bytes of the body, then nothing until the server stops
  int64_t content_length = -1;  // what the header says; -1: the truth (HEAD needs it)
};

/// Runs `handler` on the threads of its connections until it is destroyed.
class HttpServer {
 public:
  using Handler = std::function<HttpServerReply(const HttpServerRequest&)>;

  explicit HttpServer(Handler handler) : handler_(std::move(handler)) {
    listener_ = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    ::bind(listener_, reinterpret_cast<sockaddr*>(&address), size);
    ::listen(listener_, 64);
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    acceptor_ = std::thread([this] { accept_all(); });
  }
  HttpServer(const HttpServer&) = delete;
  ~HttpServer() { stop(); }

  int port() const { return port_; }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  std::string url(const std::string& path = "") const { return "http://" + address() + path; }

  /// Everything that came so far.
  std::vector<HttpServerRequest> requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }
  int connections() const { return connections_; }

  /// The port is closed afterwards.
  void stop() {
    if (stopping_.exchange(true)) return;
    ::shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    ::close(listener_);
    {
      const std::lock_guard lock(mutex_);
      for (const int fd : open_) ::shutdown(fd, SHUT_RDWR);
    }
    stopped_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  void accept_all() {
    while (true) {
      const int fd = ::accept(listener_, nullptr, nullptr);
      if (fd < 0 || stopping_) {
        if (fd >= 0) ::close(fd);
        return;
      }
      const int on = 1;
      ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
      ++connections_;
      const std::lock_guard lock(mutex_);
      open_.push_back(fd);
      threads_.emplace_back([this, fd] { serve(fd); });
    }
  }

  void serve(int fd) {
    std::string buffer;
    HttpServerRequest request;
    while (receive(fd, buffer, request)) {
      {
        const std::lock_guard lock(mutex_);
        requests_.push_back(request);
      }
      const HttpServerReply reply = handler_(request);
      if (!send(fd, reply, request.method == "HEAD")) break;
    }
    const std::lock_guard lock(mutex_);
    open_.erase(std::find(open_.begin(), open_.end(), fd));
    ::close(fd);
  }

  static bool more(int fd, std::string& buffer) {
    const size_t old = buffer.size();
    buffer.resize(old + (256 << 10));
    const ssize_t count = ::recv(fd, buffer.data() + old, buffer.size() - old, 0);
    buffer.resize(old + size_t(std::max<ssize_t>(count, 0)));
    return count > 0;
  }

  /// Answers a client that wants TLS as servers without it do.
  static bool is_tls(int fd, const std::string& buffer) {
    return buffer[0] == '\x16' && (write_all(fd, "HTTP/1.1 400 Bad Request\r\n\r\n"), true);
  }

  static bool receive(int fd, std::string& buffer, HttpServerRequest& request) {
    size_t end;
    while ((end = buffer.find("\r\n\r\n")) == std::string::npos)
      if (!more(fd, buffer) || is_tls(fd, buffer)) return false;
    request = {};
    size_t line = buffer.find("\r\n");
    const size_t space = buffer.find(' '), second = buffer.find(' ', space + 1);
    request.method = buffer.substr(0, space);
    request.target = buffer.substr(space + 1, second - space - 1);
    while (line < end) {
      const size_t start = line + 2, stop = buffer.find("\r\n", start);
      const size_t colon = buffer.find(':', start);
      std::string name = buffer.substr(start, colon - start);
      std::transform(name.begin(), name.end(), name.begin(), ::tolower);
      const size_t value = std::min(buffer.find_first_not_of(' ', colon + 1), stop);
      request.headers.emplace_back(name, buffer.substr(value, stop - value));
      line = stop;
    }
    buffer.erase(0, end + 4);
    if (request.header("transfer-encoding") == "chunked")
      return receive_chunks(fd, buffer, request);
    const size_t length = size_t(std::atoll(request.header("content-length").c_str()));
    while (buffer.size() < length)
      if (!more(fd, buffer)) return false;
    request.body = buffer.substr(0, length);
    buffer.erase(0, length);
    return true;
  }

  static bool receive_chunks(int fd, std::string& buffer, HttpServerRequest& request) {
    while (true) {
      size_t end;
      while ((end = buffer.find("\r\n")) == std::string::npos)
        if (!more(fd, buffer)) return false;
      const size_t length = std::stoul(buffer, nullptr, 16);
      while (buffer.size() < end + 2 + length + 2)
        if (!more(fd, buffer)) return false;
      request.body += buffer.substr(end + 2, length);
      buffer.erase(0, end + 2 + length + 2);
      if (length == 0) return true;
    }
  }

  static bool write_all(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t count = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count <= 0) return false;
      bytes.remove_prefix(size_t(count));
    }
    return true;
  }

  /// False: the connection ends.
  bool send(int fd, const HttpServerReply& reply, bool head) {
    const int64_t length =
        reply.content_length >= 0 ? reply.content_length : int64_t(reply.body.size());
    std::string text = "HTTP/1.1 " + std::to_string(reply.status) + " Text\r\n";
    for (const auto& [name, value] : reply.headers) text += name + ": " + value + "\r\n";
    if (reply.status != 204) text += "Content-Length: " + std::to_string(length) + "\r\n";
    text += "\r\n";
    std::string_view body = head ? std::string_view() : reply.body;
    if (reply.reset_after >= 0) body = body.substr(0, size_t(reply.reset_after));
    if (reply.stall_after >= 0) body = body.substr(0, size_t(reply.stall_after));
    if (!write_all(fd, text) || !write_all(fd, body)) return false;
    if (reply.stall_after >= 0) {
      std::unique_lock lock(mutex_);
      stopped_.wait(lock, [&] { return stopping_.load(); });
      return false;
    }
    if (reply.reset_after < 0) return true;
    const linger now{1, 0};  // a reset instead of an orderly end
    ::setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
    return false;
  }

  Handler handler_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<bool> stopping_{false};
  std::atomic<int> connections_{0};
  mutable std::mutex mutex_;  // guards requests_, open_, threads_
  std::condition_variable stopped_;
  std::vector<HttpServerRequest> requests_;
  std::vector<int> open_;
  std::list<std::thread> threads_;
  std::thread acceptor_;
};
