#include <distribute/collective/detail/tcp_transport.hpp>

#include <tests/collective/contract.hpp>
#include <tests/collective/tcp_mesh.hpp>
#include <tests/support/wire_relay.hpp>

#include <atomic>
#include <chrono>
#include <cstring>

using namespace tcp_mesh;
using Catch::Contains;

namespace {

/// Rank 0 of a group of two, whose other end is in the hands of the test.
struct OneRank {
  OneRank() {
    auto [mine, theirs] = tcp_pair();
    TcpMesh mesh{.rank = 0, .flows = {}};
    mesh.flows.resize(2);
    mesh.flows[1].push_back(std::move(mine));
    group = std::make_unique<Communicator>(std::make_unique<TcpTransport>(std::move(mesh)),
                                           CommunicatorOptions{.timeout_seconds = 20});
    peer = std::move(theirs);
  }
  void write(const void* data, size_t bytes) {
    const auto span = std::span(static_cast<const std::byte*>(data), bytes);
    REQUIRE(peer.write(span, net::Deadline::after_seconds(10)).ok());
  }
  void write(const MessageHeader& header) {
    const std::string bytes = net::encode_message(header);
    write(bytes.data(), bytes.size());
  }
  /// The error of an all_reduce of `count` floats.
  std::string error_of_all_reduce(int64_t count) {
    std::vector<float> data(static_cast<size_t>(count), 1.0f);
    try {
      group->all_reduce(data.data(), count, DType::Float32);
    } catch (const Error& error) {
      code = error.code();
      return error.what();
    }
    return "";
  }
  MessageHeader header(int64_t count, uint64_t bytes) const {
    return {.signature = {.sequence = 1,
                          .count = count,
                          .kind = Collective::AllReduce,
                          .dtype = DType::Float32},
            .bytes = bytes};
  }
  std::unique_ptr<Communicator> group;
  net::Socket peer;
  StatusCode code = StatusCode::Ok;
};

}  // namespace

TEST_CASE("one TCP connection a pair keeps the contract of transports", "[collective][tcp]") {
  contract::check([](int size) { return make_group(size, 1, true); });
}

TEST_CASE("three flows a pair and small segments keep the contract", "[collective][tcp]") {
  contract::check([](int size) { return make_group(size, 3, false, {.segment_bytes = 10'000}); });
}

TEST_CASE("encrypted connections keep the contract of transports", "[collective][tcp][tls]") {
  if (!net::has_tls()) return;
  contract::check([](int size) { return make_group(size, 2, true, {}, token_tls()); });
}

TEST_CASE("a bit that changes between two ranks is DataLoss, and the other rank hears of it",
          "[collective][tcp][tls]") {
  if (!net::has_tls()) return;
  std::atomic<int> pieces{0};
  auto listener =
      value_or_throw(net::Listener::bind({"127.0.0.1", 0}, net::Deadline::after_seconds(5)));
  WireRelay relay(listener.address(), [&](bool to_target, std::string& bytes) {
    if (to_target && ++pieces == 20) bytes[bytes.size() / 2] ^= 1;
  });
  auto one = value_or_throw(net::connect(relay.address(), net::Deadline::after_seconds(5)));
  auto other = value_or_throw(listener.accept(net::Deadline::after_seconds(5)));
  throw_if_error(net::encrypt_pair(one, other, token_tls(), net::Deadline::after_seconds(10)));
  std::vector<TcpMesh> meshes(2);
  for (int rank = 0; rank < 2; ++rank) {
    meshes[size_t(rank)].rank = rank;
    meshes[size_t(rank)].flows.resize(2);
    meshes[size_t(rank)].flows[size_t(1 - rank)].push_back(std::move(rank == 0 ? one : other));
  }
  const auto make = [&](int) {
    std::vector<std::unique_ptr<Transport>> group;
    for (TcpMesh& mesh : meshes) group.push_back(std::make_unique<TcpTransport>(std::move(mesh)));
    return group;
  };
  const auto errors = contract::run_ranks(
      make, 2,
      [](Communicator& group) {
        std::vector<float> data(1'000'000, 1.0f);
        group.all_reduce(data.data(), int64_t(data.size()), DType::Float32);
      },
      20);
  CHECK_THAT(errors[1], Contains("rank 1, rank 0 (127.0.0.1") &&
                            Contains("it sent bytes that were changed on their way"));
  CHECK(errors[0] != "");
  CHECK_THAT(errors[0], !Contains("the time is over"));
}

TEST_CASE("the other collectives of seventeen ranks", "[collective][tcp]") {
  constexpr int kRanks = 17;
  const int64_t scale = GENERATE(1, 3000);
  const auto counts = contract::uneven(kRanks, scale);
  const int64_t all = total(counts);
  std::vector<float> joined;
  std::vector<std::vector<float>> parts;
  for (int r = 0; r < kRanks; ++r) {
    const auto part = contract::numbers<float>(r, counts[size_t(r)]);
    joined.insert(joined.end(), part.begin(), part.end());
    parts.push_back(contract::numbers<float>(r, all));
  }
  const std::vector<float> sum = contract::expected(ReductionOp::Sum, parts);
  const auto check = [](bool right, const char* what) {
    if (!right) throw InternalError(what);
  };
  for (int root : {0, 3, kRanks - 1})
    contract::run_clean(
        [](int size) { return make_group(size, 1, false, {.segment_bytes = 4096}); }, kRanks,
        [&](Communicator& group) {
          const int rank = group.rank();
          const auto mine = contract::numbers<float>(rank, counts[size_t(rank)]);
          std::vector<float> out(joined.size());
          group.all_gather(mine.data(), out.data(), counts, DType::Float32);
          check(out == joined, "all_gather");
          std::fill(out.begin(), out.end(), -1.0f);
          group.gather(mine.data(), out.data(), counts, DType::Float32, root);
          check(rank == root ? out == joined : out[0] == -1.0f, "gather");
          std::vector<float> slice(mine.size());
          const auto all_numbers = contract::numbers<float>(rank, all);
          group.reduce_scatter(all_numbers.data(), slice.data(), counts, DType::Float32);
          const int64_t skipped = total(std::span(counts).first(size_t(rank)));
          check(std::equal(slice.begin(), slice.end(), sum.begin() + skipped), "reduce_scatter");
          auto data = contract::numbers<float>(rank, all);
          const auto before = data;
          group.reduce(data.data(), all, DType::Float32, ReductionOp::Sum, root);
          check(data == (rank == root ? sum : before), "reduce");
          group.broadcast(data.data(), all, DType::Float32, root);
          check(data == sum, "broadcast");
          group.barrier();
        });
}

TEST_CASE("every algorithm gives the same bits", "[collective][tcp]") {
  contract::run_clean([](int size) { return make_group(size, 1, false, large_only(1000)); }, 5,
                      [](Communicator& group) {
                        const auto mine = contract::numbers<float>(group.rank(), 30'000);
                        auto whole = mine, pieces = mine;
                        group.all_reduce(whole.data(), 30'000, DType::Float32);
                        for (int64_t i = 0; i < 30'000; i += 300)
                          group.all_reduce(pieces.data() + i, 300, DType::Float32);
                        if (whole != pieces) throw InternalError("the bits differ");
                      });
}

TEST_CASE("a small message may be sent before a collective and received after it",
          "[collective][tcp]") {
  contract::run_clean([](int size) { return make_group(size, 1, true); }, 3,
                      [](Communicator& group) {
                        std::vector<float> data(8'000, 7.0f);
                        const int rank = group.rank();
                        if (rank == 0) group.send(data.data(), 8'000, DType::Float32, 2);
                        if (rank == 0) group.send(data.data(), 5, DType::Float32, 2);
                        group.barrier();
                        if (rank != 2) return;
                        std::vector<float> got(8'000), last(5);
                        group.receive(got.data(), 8'000, DType::Float32, 0);
                        group.receive(last.data(), 5, DType::Float32, 0);
                        if (got != data || last[4] != 7.0f) throw InternalError("other numbers");
                      });
}

TEST_CASE("a receive that differs from its send says both", "[collective][tcp]") {
  const auto errors = contract::run_ranks([](int size) { return make_group(size, 1, true); }, 2,
                                          [](Communicator& group) {
                                            std::vector<float> data(10);
                                            if (group.rank() == 0)
                                              group.send(data.data(), 10, DType::Float32, 1);
                                            else
                                              group.receive(data.data(), 9, DType::Float32, 0);
                                          });
  CHECK_THAT(errors[1], Contains("rank 0 sends float32 x 10"));
  CHECK_THAT(errors[1], Contains("rank 1 receives float32 x 9"));
}

TEST_CASE("a rank that ends in the middle of an operation is named", "[collective][tcp]") {
  for (int64_t count : {10, 1'000'000}) {
    OneRank one;
    SECTION("between messages") {}
    SECTION("within a message") {
      const std::string header = net::encode_message(one.header(count, 40));
      one.write(header.data(), header.size() - (count == 10 ? 0 : 3));
    }
    one.peer.close();
    CHECK_THAT(one.error_of_all_reduce(count),
               Contains("all_reduce(sum) #1") && Contains("rank 1") && Contains("127.0.0.1"));
    CHECK(one.code == StatusCode::Unavailable);
    CHECK_THAT(one.error_of_all_reduce(1), Contains("#1"));  // the first error again
  }
}

TEST_CASE("a rank that has ended is no error while nothing is wanted of it", "[collective][tcp]") {
  auto transports = make_group(3, 2, true);
  transports[2].reset();
  std::vector<std::thread> threads;
  std::array<std::string, 2> errors;
  for (size_t r = 0; r < 2; ++r)
    threads.emplace_back([&, r] {
      Communicator group(std::move(transports[r]), {.timeout_seconds = 20});
      float x = 5;
      try {
        r == 0 ? group.send(&x, 1, DType::Float32, 1) : group.receive(&x, 1, DType::Float32, 0);
        r == 1 ? group.send(&x, 1, DType::Float32, 0) : group.receive(&x, 1, DType::Float32, 1);
      } catch (const Error& error) {
        errors[r] = error.what();
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(errors[0] == "");
  CHECK(errors[1] == "");
}

TEST_CASE("bytes that are no message are refused", "[collective][tcp]") {
  OneRank one;
  MessageHeader header = one.header(10, 40);
  SECTION("garbage") { header.magic = 0x5a5a5a5a; }
  SECTION("HTTP") { std::memcpy(&header.magic, "GET ", 4); }
  SECTION("too long") { header.bytes = uint64_t{1} << 60; }
  SECTION("a dtype that does not exist") { header.signature.dtype = DType(200); }
  SECTION("a collective that does not exist") { header.signature.kind = Collective(77); }
  SECTION("a kind that does not exist") { header.kind = MessageHeader::Kind(9); }
  SECTION("another length than the signature says") { header.bytes = 44; }
  SECTION("a failure with a code that does not exist") {
    header.kind = MessageHeader::Kind::Failure;
    header.code = StatusCode(99);
  }
  SECTION("a failure with a long text") {
    header.kind = MessageHeader::Kind::Failure;
    header.code = StatusCode::Unavailable;
    header.bytes = 1 << 20;
  }
  one.write(header);
  CHECK_THAT(one.error_of_all_reduce(10), Contains("rank 1"));
  CHECK(one.code == StatusCode::DataLoss);
}

TEST_CASE("an error on one rank is the error of all", "[collective][tcp]") {
  OneRank one;
  const std::string text = "rank 1 has no memory left";
  MessageHeader header = one.header(10, text.size());
  header.kind = MessageHeader::Kind::Failure;
  header.code = StatusCode::ResourceExhausted;
  one.write(header);
  one.write(text.data(), text.size());
  CHECK(one.error_of_all_reduce(10) == text);
  CHECK(one.code == StatusCode::ResourceExhausted);
}

TEST_CASE("a header that comes byte by byte is read", "[collective][tcp]") {
  OneRank one;
  const std::string header = net::encode_message(one.header(2, 8));
  CHECK(header.size() == kMessageHeaderBytes);
  const float numbers[2] = {1, 2};
  const std::string bytes = header + std::string(reinterpret_cast<const char*>(numbers), 8);
  std::thread slow([&] {
    for (const char byte : bytes) {
      (void)one.peer.write(std::as_bytes(std::span(&byte, 1)), net::Deadline::after_seconds(10));
      std::this_thread::yield();
    }
  });
  float data[2] = {10, 20};
  one.group->all_reduce(data, 2, DType::Float32);
  slow.join();
  CHECK(data[0] == 11);
  CHECK(data[1] == 22);
}

TEST_CASE("a rank that stops within a large array: deadline, with its number",
          "[collective][tcp]") {
  const auto errors =
      contract::run_ranks([](int size) { return make_group(size, 1, true); }, 3,
                          [](Communicator& group) {
                            std::vector<float> data(4'000'000);
                            if (group.rank() == 1)
                              group.barrier();  // and not this all_reduce
                            else
                              group.all_reduce(data.data(), 4'000'000, DType::Float32);
                          },
                          5);
  for (const std::string& error : errors) CHECK(error != "");
  const auto late =
      contract::run_ranks([](int size) { return make_group(size, 1, true); }, 3,
                          [](Communicator& group) {
                            std::vector<float> data(4'000'000);
                            if (group.rank() != 1)
                              group.all_reduce(data.data(), 4'000'000, DType::Float32);
                          },
                          0.5);
  for (size_t r : {0, 2}) {
    CHECK_THAT(late[r], Contains("has heard nothing from rank 1 ("));
    CHECK_THAT(late[r], !Contains("rank 2 (") || !Contains("rank 0 ("));
  }
}

TEST_CASE("abort wakes a rank that waits", "[collective][tcp]") {
  OneRank one;
  std::atomic<bool> waits = false;
  std::thread killer([&] {
    while (!waits) std::this_thread::yield();
    one.group->abort(StatusCode::Aborted, "enough");
  });
  waits = true;
  const auto start = std::chrono::steady_clock::now();
  CHECK(one.error_of_all_reduce(10) == "enough");
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(10));
  CHECK(one.code == StatusCode::Aborted);
  killer.join();
}

TEST_CASE("a mesh without a connection to a rank is refused", "[collective][tcp]") {
  TcpMesh mesh{.rank = 0, .flows = {}};
  mesh.flows.resize(2);
  CHECK_THROWS_WITH(TcpTransport(std::move(mesh)), "no connection to rank 1");
}
