#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/horovod/callbacks.hpp>
#include <distribute/horovod/collectives.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>

#include <tests/horovod/horovod_support.hpp>
#include <tests/support/watching_tape.hpp>

using namespace distribute;

namespace {

/// Different on every rank and in every element.
Tensor numbers(int rank, const Shape& shape) {
  std::vector<float> values(static_cast<size_t>(shape.num_elements()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = float(rank + 1) * float(i + 1);
  return Tensor(shape, values);
}

Tensor filled(int64_t rows, float value) {
  return Tensor(Shape{rows, 2}, std::vector<float>(size_t(rows * 2), value));
}

std::vector<float> repeated(std::initializer_list<std::pair<int, float>> parts) {
  std::vector<float> all;
  for (const auto& [count, value] : parts) all.insert(all.end(), size_t(count), value);
  return all;
}

}  // namespace

TEST_CASE("ranks know their place", "[horovod][collectives]") {
  const int ranks = GENERATE(1, 3, 4);
  run_clean_hvd(ranks, [&](int rank) {
    require(hvd::is_initialized(), "is_initialized");
    require(hvd::rank() == rank && hvd::size() == ranks, "rank, size");
    require(hvd::local_rank() == rank && hvd::local_size() == ranks, "all on one host");
    require(hvd::cross_rank() == 0 && hvd::cross_size() == 1, "one host");
    require(hvd::is_homogeneous(), "is_homogeneous");
  });
  CHECK_FALSE(hvd::is_initialized());
  CHECK_THROWS_AS(hvd::rank(), FailedPreconditionError);
}

TEST_CASE("allreduce reduces by every op", "[horovod][collectives]") {
  const int ranks = GENERATE(1, 3, 4);
  run_clean_hvd(ranks, [&](int rank) {
    const Tensor mine = numbers(rank, {3});
    const float n = float(ranks), sum = n * (n + 1) / 2;
    float product = 1;
    for (int r = 0; r < ranks; ++r) product *= float(r + 1);
    const auto check = [&](hvd::Op op, float factor, int power = 1) {
      std::vector<float> wanted;
      for (float x : {1.0f, 2.0f, 3.0f}) wanted.push_back(factor * std::pow(x, float(power)));
      require_values(hvd::allreduce(mine, {.op = op}), wanted, hvd::name_of(op));
    };
    check(hvd::Sum, sum);
    check(hvd::Average, sum / n);
    check(hvd::Min, 1);
    check(hvd::Max, n);
    check(hvd::Product, product, ranks);
    require_values(
        hvd::allreduce(mine, {.op = hvd::Sum, .prescale_factor = 0.5, .postscale_factor = 4}),
        {2 * sum, 4 * sum, 6 * sum}, "factors");
    require(hvd::allreduce(Tensor(int64_t{rank}), {.op = hvd::Max}).item<int64_t>() == ranks - 1,
            "int64 scalar");
    require(hvd::allreduce(zeros({0, 3})).shape() == Shape{0, 3}, "no elements");
    require_values(mine, numbers(rank, {3}).to_vector(), "the input stays");
  });
}

// Horovod scales the sum by 1 / size in the integers' own type (ScaleBufferCPUImpl).
TEST_CASE("the average of integers is an integer, cut towards 0", "[horovod][collectives]") {
  run_clean_hvd(2, [&](int rank) {
    const std::vector<int32_t> mine =
        rank == 0 ? std::vector<int32_t>{1, -1, 3} : std::vector<int32_t>{2, -2, 5};
    const Tensor mean = hvd::allreduce(Tensor(Shape{3}, mine));
    require(mean.dtype() == DType::Int32, "the dtype stays");
    const auto values = mean.data<int32_t>();
    require(values[0] == 1 && values[1] == -1 && values[2] == 4, "1, -1, 4");
    require_values(hvd::allreduce(cast(Tensor(Shape{3}, mine), DType::Float32)), {1.5, -1.5, 4},
                   "floats");
  });
}

TEST_CASE("the transport and what travels together do not change the bits",
          "[horovod][collectives]") {
  const auto bits = [](const char* transport, int64_t threshold) {
    ::setenv("DISTRIBUTE_TRANSPORT", transport, 1);
    auto options = quick_engine();
    options.negotiation.fusion_threshold = threshold;
    std::vector<std::vector<float>> all(3);
    run_clean_hvd(
        3,
        [&](int rank) {
          std::vector<hvd::Handle> handles;
          for (int i = 0; i < 5; ++i) {
            std::vector<float> values(size_t(100 + 3000 * i));
            for (size_t j = 0; j < values.size(); ++j)
              values[j] = 1.0f / float(1 + rank * 7 + int(j) * (i + 1));
            handles.push_back(hvd::allreduce_async(Tensor(Shape{int64_t(values.size())}, values),
                                                   {.name = str_cat("t", i)}));
          }
          for (const Tensor& sum : hvd::synchronize(handles))
            for (float value : sum.to_vector()) all[size_t(rank)].push_back(value);
        },
        options);
    ::unsetenv("DISTRIBUTE_TRANSPORT");
    CHECK(all[0] == all[1]);
    CHECK(all[0] == all[2]);
    return all[0];
  };
  const auto expected = bits("", 0);
  CHECK(bits("", 1 << 20) == expected);
  CHECK(bits("tcp", 20'000) == expected);
}

TEST_CASE("named operations may be submitted in any order", "[horovod][collectives]") {
  run_clean_hvd(4, [&](int rank) {
    std::vector<int> order(24);
    std::iota(order.begin(), order.end(), 0);
    std::rotate(order.begin(), order.begin() + rank * 5, order.end());
    if (rank % 2 == 1) std::reverse(order.begin(), order.end());
    std::vector<hvd::Handle> handles(24);
    for (int i : order)
      handles[size_t(i)] = hvd::allreduce_async(Tensor(float(i * (rank + 1))),
                                                {.op = hvd::Sum, .name = str_cat("x", i)});
    for (int i = 23; i >= 0; --i)
      require(handles[size_t(i)].wait().item<float>() == float(i * 10), str_cat("x", i));
  });
}

TEST_CASE("poll tells when an operation is done", "[horovod][collectives]") {
  run_clean_hvd(3, [&](int rank) {
    hvd::Handle handle;
    if (rank != 2) {
      handle = hvd::allreduce_async(Tensor(1.0f), {.op = hvd::Sum, .name = "late"});
      require(!hvd::poll(handle), "one rank is missing");
    }
    hvd::barrier();
    if (rank == 2) handle = hvd::allreduce_async(Tensor(1.0f), {.op = hvd::Sum, .name = "late"});
    const auto deadline = Deadline::after_seconds(20);
    while (!hvd::poll(handle)) require(!deadline.passed(), "it is never done");
    require(hvd::synchronize(handle).item<float>() == 3, "sum");
  });
}

TEST_CASE("grouped operations give one result for each tensor", "[horovod][collectives]") {
  run_clean_hvd(3, [&](int rank) {
    const std::vector<Tensor> mine{numbers(rank, {2}), Tensor(int32_t(rank)), numbers(rank, {1})};
    for (int turn = 0; turn < 2; ++turn) {
      const auto sums = hvd::grouped_allreduce(mine, {.op = hvd::Sum});
      require(sums.size() == 3, "three");
      require_values(sums[0], {6, 12}, "first");
      require(sums[1].item<int32_t>() == 3, "second");
      require_values(sums[2], {6}, "third");
    }
    const auto rows = hvd::grouped_allgather({Tensor(float(rank)), Tensor{float(rank), 9.0f}});
    require_values(rows[0], {0, 1, 2}, "gathered");
    require_values(rows[1], {0, 9, 1, 9, 2, 9}, "gathered");
    const auto parts = hvd::grouped_reducescatter({filled(3, 1), filled(4, 2)}, {.op = hvd::Sum});
    require_values(parts[0], {3, 3}, "scattered");
    require_values(parts[1], rank == 0 ? std::vector<float>{6, 6, 6, 6} : std::vector<float>{6, 6},
                   "scattered");
  });
}

TEST_CASE("allgather takes rows of any number", "[horovod][collectives]") {
  const int ranks = GENERATE(1, 4);
  run_clean_hvd(ranks, [&](int rank) {
    const Tensor all = hvd::allgather(filled(rank, float(rank)));  // rank 0 has none
    std::vector<float> wanted;
    for (int r = 0; r < ranks; ++r) wanted.insert(wanted.end(), size_t(2 * r), float(r));
    require(all.shape() == Shape{ranks * (ranks - 1) / 2, 2}, "shape");
    require_values(all, wanted, "rows");
    require_values(
        hvd::allgather(Tensor(float(rank))),
        [&] {
          std::vector<float> scalars(static_cast<size_t>(ranks));
          std::iota(scalars.begin(), scalars.end(), 0.0f);
          return scalars;
        }(),
        "scalars");
  });
}

TEST_CASE("broadcast gives every rank the root's tensor", "[horovod][collectives]") {
  run_clean_hvd(3, [&](int rank) {
    for (int root : {0, 2}) {
      const Tensor mine = numbers(rank, {2, 2});
      require_values(hvd::broadcast(mine, root), numbers(root, {2, 2}).to_vector(), "values");
      require_values(mine, numbers(rank, {2, 2}).to_vector(), "the input stays");
    }
    require(
        error_of([] { hvd::broadcast(Tensor(1.0f), 3); }).find("the root 3") != std::string::npos,
        "no such root");
  });
}

TEST_CASE("alltoall deals rows out, equally or by splits", "[horovod][collectives]") {
  run_clean_hvd(3, [&](int rank) {
    const Tensor equal = hvd::alltoall(numbers(rank, {6})).output;
    const float a = float(2 * rank + 1), b = a + 1;
    require_values(equal, {a, b, 2 * a, 2 * b, 3 * a, 3 * b}, "equal");
    // Rank r sends r + peer rows to each peer.
    const std::vector<int32_t> splits{rank, rank + 1, rank + 2};
    const auto [output, received] =
        hvd::alltoall(filled(3 * rank + 3, float(rank)), Tensor(Shape{3}, splits));
    require_values(received, {float(rank), float(rank + 1), float(rank + 2)}, "received");
    require_values(output,
                   repeated({{2 * rank, 0.0f}, {2 * (rank + 1), 1.0f}, {2 * (rank + 2), 2.0f}}),
                   "rows");
    require(error_of([] { hvd::alltoall(zeros({4})); }).find("in equal parts") != std::string::npos,
            "4 rows for 3 ranks");
    require(error_of([] {
              hvd::alltoall(zeros({4}), Tensor{int32_t{1}, int32_t{1}, int32_t{1}});
            }).find("[1, 1, 1]") != std::string::npos,
            "splits of 3 rows");
  });
}

TEST_CASE("reducescatter gives each rank its rows of the sum", "[horovod][collectives]") {
  run_clean_hvd(3, [&](int rank) {
    const Tensor mine = hvd::reducescatter(numbers(rank, {5, 2}), {.op = hvd::Sum});
    const std::vector<std::vector<float>> wanted{{6, 12, 18, 24}, {30, 36, 42, 48}, {54, 60}};
    require_values(mine, wanted[size_t(rank)], "rows");
    const Tensor mean = hvd::reducescatter(numbers(rank, {3}), {.prescale_factor = 0.5});
    require_values(mean, {float(rank + 1)}, "average of halves");
  });
}

TEST_CASE("compressed sums are within the rounding of their 16 bits", "[horovod][collectives]") {
  run_clean_hvd(4, [&](int rank) {
    std::vector<float> values(5000);
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = std::sin(float(i) * 0.37f + float(rank)) + 1.5f;
    const Tensor mine(Shape{5000}, values);
    const auto exact = hvd::allreduce(mine, {.op = hvd::Sum}).to_vector();
    const auto worst = [&](hvd::Compression compression) {
      const Tensor sum = hvd::allreduce(mine, {.op = hvd::Sum, .compression = compression});
      require(sum.dtype() == DType::Float32, "comes back as float32");
      double error = 0;
      const auto got = sum.to_vector();
      for (size_t i = 0; i < got.size(); ++i)
        error = std::max(error, std::abs(double(got[i]) - double(exact[i])) / double(exact[i]));
      return error;
    };
    // Each value is rounded once, and the sum once: two half units in the last place.
    const double fp16 = worst(hvd::Compression::Fp16), bf16 = worst(hvd::Compression::Bf16);
    require(fp16 > 0 && fp16 <= 2 * std::ldexp(1.0, -11), str_cat("fp16 ", fp16));
    require(bf16 > fp16 && bf16 <= 2 * std::ldexp(1.0, -8), str_cat("bf16 ", bf16));
    require(worst(hvd::Compression::None) == 0, "none");
    const Tensor integers = hvd::allreduce(Tensor(int32_t{70'001}),
                                           {.op = hvd::Sum, .compression = hvd::Compression::Fp16});
    require(integers.item<int32_t>() == 280'004, "integers are not compressed");
  });
}

TEST_CASE("different submissions are an error on all ranks, and the job goes on",
          "[horovod][collectives]") {
  run_clean_hvd(3, [&](int rank) {
    const auto error_for = [&](const Tensor& mine, const hvd::AllreduceOptions& options) {
      return error_of([&] { hvd::allreduce(mine, options); });
    };
    const std::string shape = error_for(zeros({rank == 1 ? 5 : 4}), {.name = "weights"});
    require(contains(shape, "FAILED_PRECONDITION") && contains(shape, "'weights'") &&
                contains(shape, "float32 [4]") && contains(shape, "float32 [5]") &&
                contains(shape, "rank 1 (worker 1"),
            shape);
    const std::string dtype =
        error_for(rank == 2 ? Tensor(int32_t{1}) : Tensor(1.0f), {.name = "mixed"});
    require(contains(dtype, "of int32 []") && contains(dtype, "of float32 []"), dtype);
    const std::string op =
        error_for(Tensor(1.0f), {.op = rank == 0 ? hvd::Max : hvd::Min, .name = "ops"});
    require(contains(op, "allreduce(max)") && contains(op, "allreduce(min)"), op);
    require(hvd::allreduce(Tensor(1.0f), {.op = hvd::Sum}).item<float>() == 3, "goes on");
  });
}

TEST_CASE("a name can be under way once", "[horovod][collectives]") {
  run_clean_hvd(3, [&](int) {
    const hvd::Handle first = hvd::allreduce_async(Tensor(1.0f), {.name = "twice"});
    const std::string error =
        error_of([] { (void)hvd::allreduce_async(Tensor(1.0f), {.name = "twice"}); });
    require(first.done() || contains(error, "'twice'"), error);
    hvd::synchronize(first);
    hvd::allreduce(Tensor(1.0f), {.name = "twice"});
  });
}

TEST_CASE("ranks with uneven batches join, and learn who was last", "[horovod][join]") {
  run_clean_hvd(4, [&](int rank) {
    for (int epoch = 0; epoch < 2; ++epoch) {
      const int batches = rank == 2 ? 5 : rank + 1;  // 1, 2, 5, 4
      for (int b = 0; b < batches; ++b) {
        const int active = b < 1 ? 4 : b < 2 ? 3 : b < 4 ? 2 : 1;
        const float sum =
            hvd::allreduce(Tensor(1.0f), {.op = hvd::Sum, .name = str_cat("b", b)}).item<float>();
        require(sum == float(active), str_cat("batch ", b, ": ", sum));
      }
      require(hvd::join() == 2, "the last");
      require(hvd::allreduce(Tensor(4.0f)).item<float>() == 4, "after it");
    }
  });
}

TEST_CASE("what cannot be done without a rank that has joined is an error", "[horovod][join]") {
  run_clean_hvd(3, [&](int rank) {
    if (rank != 1) {
      const std::string error = error_of([] { hvd::allgather(Tensor(1.0f), {.name = "g"}); });
      require(contains(error, "has joined") && contains(error, "rank 1"), error);
    }
    hvd::join();
  });
}

TEST_CASE("process sets work beside each other", "[horovod][process_set]") {
  const char* transport = GENERATE("", "tcp");
  ::setenv("DISTRIBUTE_TRANSPORT", transport, 1);
  run_clean_hvd(4, [&](int rank) {
    const hvd::ProcessSet even = hvd::add_process_set({2, 0}), odd = hvd::add_process_set({1, 3});
    const hvd::ProcessSet mine = rank % 2 == 0 ? even : odd;
    require(even.ranks() == std::vector<int>{0, 2} && even.size() == 2, "ranks");
    require(mine.included() && mine.rank() == rank / 2, "place");
    require((rank % 2 == 0 ? odd : even).rank() == -1, "not included");
    require(hvd::global_process_set().size() == 4, "global");
    for (int i = 0; i < 1 + 2 * (rank % 2); ++i) {  // the sets do not wait for each other
      const float sum =
          hvd::allreduce(Tensor(float(rank)), {.op = hvd::Sum, .process_set = mine}).item<float>();
      require(sum == (rank % 2 == 0 ? 2 : 4), "sum");
    }
    require(hvd::broadcast(Tensor(float(rank)), rank % 2 == 0 ? 2 : 1, {.process_set = mine})
                    .item<float>() == (rank % 2 == 0 ? 2 : 1),
            "root is a rank of the job");
    require_values(hvd::allgather(Tensor(float(rank)), {.process_set = mine}),
                   rank % 2 == 0 ? std::vector<float>{0, 2} : std::vector<float>{1, 3}, "gather");
    hvd::barrier(mine);
    hvd::remove_process_set(even);
    require(contains(error_of([&] { (void)even.ranks(); }), "no process set"), "removed");
    require(hvd::allreduce(Tensor(1.0f), {.op = hvd::Sum}).item<float>() == 4, "all");
  });
  ::unsetenv("DISTRIBUTE_TRANSPORT");
}

TEST_CASE("wrong process sets are refused", "[horovod][process_set]") {
  run_clean_hvd(3, [&](int rank) {
    require(contains(error_of([] { hvd::add_process_set({0, 3}); }), "from 0 to 2"), "range");
    require(contains(error_of([] { hvd::add_process_set({1, 1}); }), "[1, 1]"), "twice");
    const std::string differ = error_of([&] { hvd::add_process_set({0, rank == 2 ? 2 : 1}); });
    require(contains(differ, "[0, 1]") && contains(differ, "[0, 2]"), differ);
    const std::string exists = error_of([] { hvd::add_process_set({2, 1, 0}); });
    require(contains(exists, "process set 0 has these ranks already"), exists);
    const hvd::ProcessSet set = hvd::add_process_set({0, 1});
    if (rank == 2)
      require(contains(error_of([&] { hvd::barrier(set); }), "is not in process set"), "outside");
  });
}

TEST_CASE("who waits for a rank that has shut down gets an error", "[horovod][collectives]") {
  const auto errors = run_hvd(3, [&](int rank) {
    if (rank == 1) return;
    hvd::allreduce(Tensor(1.0f), {.name = "alone"});
  });
  CHECK(errors[1] == "");
  for (size_t rank : {0, 2})
    CHECK_THAT(errors[rank], Contains("ABORTED") && Contains("'alone'") && Contains("worker 1") &&
                                 Contains("has called hvd::shutdown()"));
}

TEST_CASE("a stall beyond its limit ends the job and names who is missing",
          "[horovod][collectives]") {
  auto options = quick_engine();
  options.negotiation.stall_warning = 0.05;
  options.negotiation.stall_limit = 0.3;
  LogLines log;
  ClusterOptions cluster = quick_options();
  cluster.log = log.sink();
  const auto errors = run_hvd(
      3,
      [&](int rank) {
        if (rank == 2)
          hvd::allreduce(Tensor(1.0f), {.name = "other"});
        else
          hvd::allreduce(Tensor(1.0f), {.name = "mine"});
      },
      options, cluster);
  for (const std::string& error : errors)
    CHECK_THAT(error, Contains("DEADLINE_EXCEEDED") && Contains(" has waited for ") &&
                          Contains("DISTRIBUTE_OPERATION_TIMEOUT"));
  CHECK_THAT(log.text(), Contains("warning: hvd: 'mine'") && Contains("for rank 2 (worker 2"));
}

TEST_CASE("operations have gradients", "[horovod][collectives]") {
  run_clean_hvd(3, [&](int rank) {
    const Tensor weights(Shape{3}, std::vector<float>{1, 10, 100});
    const auto gradient = [&](const Tensor& x, const std::function<Tensor(const Tensor&)>& fn) {
      WatchingTape tape({x});
      return tape.gradient(reduce_sum(fn(x)), x);
    };
    const Tensor x = numbers(rank, {3});
    require_values(gradient(x,
                            [&](const Tensor& t) {
                              return multiply(hvd::allreduce(t, {.op = hvd::Sum}), weights);
                            }),
                   {3, 30, 300}, "allreduce");
    require_values(
        gradient(x, [&](const Tensor& t) { return multiply(hvd::broadcast(t, 1), weights); }),
        rank == 1 ? std::vector<float>{3, 30, 300} : std::vector<float>{0, 0, 0}, "broadcast");
    const Tensor nine(Shape{9}, std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8, 9});
    const float first = float(3 * rank + 1);
    require_values(gradient(x, [&](const Tensor& t) { return multiply(hvd::allgather(t), nine); }),
                   {3 * first, 3 * (first + 1), 3 * (first + 2)}, "allgather");
    require_values(gradient(x,
                            [&](const Tensor& t) {
                              return multiply(hvd::alltoall(t).output, Tensor(float(rank + 1)));
                            }),
                   {1, 2, 3}, "alltoall");
    require_values(gradient(x,
                            [&](const Tensor& t) {
                              return multiply(hvd::reducescatter(t, {.op = hvd::Sum}),
                                              Tensor(float(rank + 1)));
                            }),
                   {1, 2, 3}, "reducescatter");
  });
}

TEST_CASE("sparse gradients are joined", "[horovod][collectives]") {
  run_clean_hvd(3, [&](int rank) {
    const Tensor slices =
        to_tensor({filled(1, float(rank + 1)), Tensor{int64_t{rank % 2}}, {4, 2}});
    const Tensor sum = hvd::allreduce(slices, {.op = hvd::Sum, .name = "s"});
    require(is_indexed_slices(sum), "still sparse");
    require_values(sum.row_major(), {4, 4, 2, 2, 0, 0, 0, 0}, "sum");
    require_values(hvd::allreduce(slices, {.name = "a"}).row_major(),
                   {4 * (1 / 3.0f), 4 * (1 / 3.0f), 2 * (1 / 3.0f), 2 * (1 / 3.0f), 0, 0, 0, 0},
                   "average");
  });
}

TEST_CASE("variables and objects are sent to all", "[horovod][functions]") {
  run_clean_hvd(3, [&](int rank) {
    const std::vector<Variable> variables{Variable(numbers(rank, {2, 2}), {.name = "w"}),
                                          Variable(Tensor(int64_t(rank)), {.name = "n"})};
    hvd::broadcast_variables(variables, 1);
    require_values(variables[0].value(), {2, 4, 6, 8}, "w");
    require(variables[1].value().item<int64_t>() == 1, "n");
    struct Place {
      int epoch;
      double rate;
    };
    const Place place = hvd::broadcast_object(Place{rank, rank * 0.5}, 2);
    require(place.epoch == 2 && place.rate == 1.0, "a struct");
    const std::string mine(size_t(rank * 1000), char('a' + rank));
    require(hvd::broadcast_object(mine, 2) == std::string(2000, 'c'), "a text");
    require(hvd::broadcast_object(mine, 0, "empty").empty(), "an empty text");
    const auto all = hvd::allgather_object(mine);
    require(all.size() == 3 && all[0].empty() && all[1] == std::string(1000, 'b'), "all texts");
  });
}
