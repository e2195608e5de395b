#include <distribute/io/file_system.hpp>
#include <distribute/object_stores/detail/read_ahead.hpp>

#include <tests/support/catch.hpp>

using namespace distribute;

namespace {

std::string some_bytes(size_t size) {
  std::mt19937 generator(7);
  std::string bytes(size, '\0');
  for (char& c : bytes) c = char(generator());
  return bytes;
}

/// A remote file in memory that remembers what was asked for.
struct Remote {
  std::string bytes;
  std::mutex mutex{};
  std::vector<std::pair<int64_t, int64_t>> asked{};  // offset, size; guarded by mutex
  std::atomic<int> failures{0};                      // calls that still fail

  std::unique_ptr<io::RandomAccessFile> open(const io::ReadAheadOptions& options) {
    auto fetch = [this](int64_t offset, std::span<char> out) -> absl::StatusOr<int64_t> {
      {
        const std::lock_guard lock(mutex);
        asked.emplace_back(offset, int64_t(out.size()));
      }
      if (failures-- > 0) return absl::UnavailableError("cut");
      if (size_t(offset) >= bytes.size()) return 0;
      return int64_t(bytes.copy(out.data(), out.size(), size_t(offset)));
    };
    return io::read_ahead_file("mem://file", int64_t(bytes.size()), fetch, options);
  }
};

}  // namespace

TEST_CASE("a file read in small steps comes whole, in few large fetches", "[io][read_ahead]") {
  Remote remote{.bytes = some_bytes(1'000'003)};
  const auto file = remote.open({.first_bytes = 1000, .block_bytes = 64'000, .parallel = 3});
  CHECK(file->path() == "mem://file");
  CHECK(file->size() == 1'000'003);
  std::string read, piece(777, '\0');
  while (true) {
    const auto count = file->read_some(int64_t(read.size()), piece);
    REQUIRE(count.ok());
    if (*count == 0) break;
    read.append(piece, 0, size_t(*count));
  }
  CHECK(read == remote.bytes);
  CHECK(remote.asked.size() < 30);
  CHECK(remote.asked[0] == std::pair<int64_t, int64_t>(0, 1000));
}

TEST_CASE("reads at random places fetch little", "[io][read_ahead]") {
  Remote remote{.bytes = some_bytes(1'000'000)};
  const auto file = remote.open({.first_bytes = 1000, .block_bytes = 64'000});
  std::mt19937 generator(1);
  std::string piece(100, '\0');
  for (int i = 0; i < 50; ++i) {
    const int64_t offset = int64_t(generator() % 999'000);
    REQUIRE(file->read(offset, piece).ok());
    CHECK(piece == remote.bytes.substr(size_t(offset), 100));
  }
  for (const auto& [offset, size] : remote.asked) CHECK(size <= 1000);
}

TEST_CASE("a large read goes in parallel pieces into the caller's memory", "[io][read_ahead]") {
  Remote remote{.bytes = some_bytes(1'000'000)};
  const auto file = remote.open({.first_bytes = 1000, .block_bytes = 64'000, .parallel = 4});
  std::string all(999'990, '\0');
  REQUIRE(file->read(10, all).ok());
  CHECK(all == remote.bytes.substr(10));
  CHECK(remote.asked.size() == 16);
}

TEST_CASE("a read over the end gives what is there", "[io][read_ahead]") {
  Remote remote{.bytes = some_bytes(100'000)};
  const auto file = remote.open({.first_bytes = 1000, .block_bytes = 64'000});
  std::string piece(500, '\0');
  CHECK(*file->read_some(99'900, piece) == 100);
  CHECK(*file->read_some(100'000, piece) == 0);
  CHECK(*file->read_some(200'000, piece) == 0);
  CHECK(file->read(99'900, piece).code() == absl::StatusCode::kDataLoss);
  remote.bytes.resize(50'000);  // became shorter after it was opened
  std::string all(100'000, '\0');
  CHECK(*file->read_some(0, all) == 50'000);
}

TEST_CASE("an error is given back, and the next read asks again", "[io][read_ahead]") {
  Remote remote{.bytes = some_bytes(200'000)};
  const auto file = remote.open({.first_bytes = 1000, .block_bytes = 64'000});
  std::string piece(500, '\0'), all(200'000, '\0');
  remote.failures = 1;
  CHECK(file->read(0, piece).code() == absl::StatusCode::kUnavailable);
  REQUIRE(file->read(0, piece).ok());
  CHECK(piece == remote.bytes.substr(0, 500));
  remote.failures = 1;
  CHECK(file->read(0, all).code() == absl::StatusCode::kUnavailable);
  REQUIRE(file->read(0, all).ok());
  CHECK(all == remote.bytes);
}

TEST_CASE("threads may read one file, each somewhere else", "[io][read_ahead]") {
  Remote remote{.bytes = some_bytes(400'000)};
  const auto file = remote.open({.first_bytes = 1000, .block_bytes = 16'000});
  std::atomic<int> good{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::string read, piece(900, '\0');
      while (read.size() < 100'000) {
        const size_t left = std::min<size_t>(900, 100'000 - read.size());
        const auto count =
            file->read_some(t * 100'000 + int64_t(read.size()), std::span(piece).first(left));
        if (!count.ok() || *count == 0) return;
        read.append(piece, 0, size_t(*count));
      }
      good += read == remote.bytes.substr(size_t(t) * 100'000, 100'000);
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(good == 4);
}
