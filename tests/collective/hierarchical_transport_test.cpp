#include <distribute/collective/detail/hierarchical_transport.hpp>

#include <tests/collective/contract.hpp>
#include <tests/collective/hierarchy.hpp>
#include <tests/collective/tcp_mesh.hpp>

#include <numeric>
#include <vector>

using namespace tcp_mesh;
using namespace hierarchy;
using Catch::Contains;

TEST_CASE("hosts of two ranks keep the contract of transports", "[collective][hierarchical]") {
  contract::check(hosts_with({2}));
}

TEST_CASE("hosts of three and one ranks keep the contract", "[collective][hierarchical]") {
  contract::check(hosts_with({3, 1}, 2));
}

TEST_CASE("hosts of one, two and two ranks keep the contract", "[collective][hierarchical]") {
  contract::check(hosts_with({1, 2, 2}));
}

TEST_CASE("small and large reductions among other collectives", "[collective][hierarchical]") {
  const auto sizes = GENERATE(std::vector<int>{2}, std::vector<int>{3, 1}, std::vector<int>{1, 4});
  contract::run_clean(hosts_with(sizes), 8, [](Communicator& group) {
    for (int i = 0; i < 300; ++i) {
      std::vector<float> data(i % 17 == 3 ? 200'000 : size_t(1 + i % 100), float(i));
      if (i % 5 == 1) group.broadcast(data.data(), 1, DType::Float32, i % 8);
      if (i % 7 == 2 && group.rank() == 3) group.send(data.data(), 1, DType::Float32, 0);
      group.all_reduce(data.data(), int64_t(data.size()), DType::Float32);
      if (i % 7 == 2 && group.rank() == 0) group.receive(data.data(), 1, DType::Float32, 3);
      if (data.back() != float(8 * i) && data.size() > 1) throw InternalError("wrong sum");
    }
  });
}

TEST_CASE("many small segments through hosts of all sizes", "[collective][hierarchical]") {
  using contract::all_reduce_of;
  const auto sizes = GENERATE(std::vector<int>{2}, std::vector<int>{3, 1}, std::vector<int>{1, 3},
                              std::vector<int>{1, 2, 2}, std::vector<int>{4, 3, 1});
  const int flows = GENERATE(1, 3);
  const auto make = hosts_with(sizes, flows, large_only(4096));
  for (int ranks : {3, 4, 5, 8}) {
    CAPTURE(sizes, flows, ranks);
    for (int64_t count : {5, 1025, 20'000, 300'001})
      all_reduce_of<float>(make, ranks, count, ReductionOp::Sum);
    all_reduce_of<bfloat16>(make, ranks, 50'001, ReductionOp::Mean);
    all_reduce_of<float16>(make, ranks, 50'001, ReductionOp::Sum);
    all_reduce_of<int64_t>(make, ranks, 50'001, ReductionOp::Max);
    all_reduce_of<uint8_t>(make, ranks, 50'001, ReductionOp::Mean);
    all_reduce_of<bool>(make, ranks, 50'001, ReductionOp::Product);
  }
}

TEST_CASE("ranks of a host that do not follow each other give the same bits",
          "[collective][hierarchical]") {
  const auto make = [](int ranks) {
    std::vector<int> hosts;
    for (int r = 0; r < ranks; ++r) hosts.push_back(7 - r % 2);
    return make_hierarchy(hosts, 1, large_only(4096));
  };
  CHECK_FALSE(HostLayout({0, 1, 0, 1}).is_contiguous());
  contract::all_reduce_of<float>(make, 4, 50'001, ReductionOp::Sum);
  contract::all_reduce_of<bfloat16>(make, 5, 50'001, ReductionOp::Mean);
}

TEST_CASE("errors reach all ranks, in small and large reductions", "[collective][hierarchical]") {
  const auto options = GENERATE(TcpOptions{}, large_only(4096));
  const auto make = hosts_with({2, 1}, 1, options);
  constexpr int kRanks = 6;  // on hosts of 2, 1, 2 and 1
  const int64_t count = GENERATE(100, 100'000);
  const int odd = GENERATE(0, 1, 2, 3, 5);
  CAPTURE(count, odd);
  const auto errors_of = [&](const contract::Body& body, double seconds) {
    return contract::run_ranks(make, kRanks, body, seconds);
  };
  SECTION("one rank runs another collective") {
    const int root = GENERATE(0, 3, 5);
    const auto errors = errors_of(
        [&](Communicator& group) {
          std::vector<float> data(static_cast<size_t>(count));
          if (group.rank() == odd)
            group.broadcast(data.data(), count, DType::Float32, root);
          else
            group.all_reduce(data.data(), count, DType::Float32);
          group.barrier();
        },
        20);
    int named = 0;
    for (const std::string& error : errors) {
      CHECK(error != "");
      named += error.find("all_reduce(sum) #1") != std::string::npos &&
               error.find("broadcast #1") != std::string::npos;
    }
    CHECK(named >= 1);
  }
  SECTION("one host runs another collective") {
    const auto errors = errors_of(
        [&](Communicator& group) {
          std::vector<float> data(static_cast<size_t>(count));
          if (group.rank() < 2)
            group.broadcast(data.data(), count, DType::Float32, odd);
          else
            group.all_reduce(data.data(), count, DType::Float32);
          group.barrier();
        },
        20);
    for (const std::string& error : errors) CHECK_THAT(error, !Contains("the time is over"));
  }
  SECTION("one rank does not come") {
    const auto errors = errors_of(
        [&](Communicator& group) {
          std::vector<float> data(static_cast<size_t>(count));
          if (group.rank() != odd) group.all_reduce(data.data(), count, DType::Float32);
        },
        0.3);
    for (int r = 0; r < kRanks; ++r)
      if (r != odd) CHECK_THAT(errors[size_t(r)], Contains(str_cat("rank ", odd)));
  }
  SECTION("one rank is told to stop") {
    const auto errors = errors_of(
        [&](Communicator& group) {
          std::vector<float> data(static_cast<size_t>(count));
          if (group.rank() == odd) group.abort(StatusCode::Unavailable, "worker 7 is lost");
          group.all_reduce(data.data(), count, DType::Float32);
        },
        20);
    for (const std::string& error : errors) CHECK_THAT(error, Contains("worker 7 is lost"));
  }
}

TEST_CASE("hosts, ranks and shared memory must fit together", "[collective][hierarchical]") {
  const auto make = [](const std::vector<int>& hosts, std::shared_ptr<Window> window) {
    HierarchicalTransport(std::move(make_meshes(3, 1, false)[0]), hosts, std::move(window));
  };
  CHECK_THROWS_WITH(make({0, 0}, Window::in_process(2)), Contains("hosts of 2 ranks"));
  CHECK_THROWS_WITH(make({0, 0, 1}, nullptr), Contains("shared memory is for 0 ranks"));
  CHECK_THROWS_WITH(make({0, 0, 0}, Window::in_process(2)), Contains("is for 2 ranks"));
  CHECK_THROWS_WITH(make({0, 0, 1}, Window::in_process(2, 4096)), Contains("4096 bytes"));
  CHECK_NOTHROW(make({0, 1, 1}, nullptr));
}
