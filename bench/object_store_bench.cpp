// Megabytes a second from an S3 server on this machine: curl -o /dev/null, this library reading the
// whole object into memory, and this library streaming its records (with checksums), in turn.
// The server is a process of its own that keeps the object in memory; it answers curl and us alike.
// cmake --build build/release --target object_store_bench
// build/release/bin/object_store_bench [megabytes] [rounds]
#include <distribute/base/status.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/io/tfrecord.hpp>

#include "../tests/support/http_server.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>

#include <signal.h>
#include <sys/prctl.h>

using namespace distribute;

namespace {

constexpr char kPath[] = "s3://bucket/data.tfrecord";

/// Records of 110 KB, as large as a picture of ImageNet.
std::string make_records(size_t bytes) {
  std::mt19937_64 generator(1);
  std::string file, record(110'000, '\0');
  while (file.size() < bytes) {
    for (size_t i = 0; i + 8 <= record.size(); i += 8) {
      const uint64_t number = generator();
      std::copy_n(reinterpret_cast<const char*>(&number), 8, record.data() + i);
    }
    file += io::frame_record(record);
  }
  return file;
}

/// Answers ranges of `object` until the process that started it ends.
[[noreturn]] void serve(const std::string& object, int port_pipe) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  HttpServer server([&](const HttpServerRequest& request) {
    const std::string range = request.header("range");
    if (request.method == "HEAD") return HttpServerReply{.content_length = int64_t(object.size())};
    if (range.empty()) return HttpServerReply{.body = object};
    const size_t first = std::stoul(range.substr(6));
    const size_t last =
        std::min<size_t>(std::stoul(range.substr(range.find('-') + 1)), object.size() - 1);
    return HttpServerReply{.status = 206,
                           .body = object.substr(first, last - first + 1),
                           .headers = {{"Content-Range", "bytes " + std::to_string(first) + "-" +
                                                             std::to_string(last) + "/" +
                                                             std::to_string(object.size())}}};
  });
  const int port = server.port();
  if (::write(port_pipe, &port, sizeof(port)) != sizeof(port)) std::_Exit(1);
  while (true) ::pause();
}

template <typename Function>
double seconds(Function function) {
  const auto start = std::chrono::steady_clock::now();
  function();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void stream_records() {
  auto reader = value_or_throw(io::RecordReader::open(kPath));
  std::string record;
  while (value_or_throw(reader.next(record))) {
  }
}

}  // namespace

int main(int argc, char** argv) {
  const size_t megabytes = argc > 1 ? size_t(std::atoi(argv[1])) : 256;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 7;
  const std::string object = make_records(megabytes * 1'000'000);
  int ends[2], port = 0;
  if (::pipe(ends) != 0) return 1;
  if (::fork() == 0) serve(object, ends[1]);
  if (::read(ends[0], &port, sizeof(port)) != sizeof(port)) return 1;
  const std::string url = "http://127.0.0.1:" + std::to_string(port);
  ::setenv("S3_ENDPOINT", url.c_str(), 1);
  ::setenv("AWS_ACCESS_KEY_ID", "key", 1);
  ::setenv("AWS_SECRET_ACCESS_KEY", "secret", 1);
  const std::string curl = "curl -s -o /dev/null " + url + "/bucket/data.tfrecord";

  std::vector<double> curls, wholes, streams;
  for (int round = 0; round < rounds; ++round) {
    curls.push_back(seconds([&] {
      if (std::system(curl.c_str()) != 0) std::exit(1);
    }));
    wholes.push_back(seconds([&] {
      if (value_or_throw(io::read_file(kPath)).size() != object.size()) std::exit(1);
    }));
    streams.push_back(seconds(stream_records));
  }
  const double size = double(object.size()) / 1e6, base = median(curls);
  std::printf("curl %.0f MB/s, whole file %.0f MB/s = %.2f, records %.0f MB/s = %.2f of curl\n",
              size / base, size / median(wholes), base / median(wholes), size / median(streams),
              base / median(streams));
}
