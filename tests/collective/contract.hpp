#pragma once
/// The contract of a Transport, as tests that run on every implementation.

#include <distribute/collective/communicator.hpp>

#include <tests/collective/contract_numbers.hpp>
#include <tests/support/catch.hpp>

#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace contract {

using namespace distribute;
using namespace distribute::collective;

/// Makes the transports of a group of `size` ranks, which will be used on a thread each. Where
/// other processes hold the other ranks it gives this process's alone, and none for a size that it
/// cannot make.
using MakeGroup = std::function<std::vector<std::unique_ptr<Transport>>(int size)>;
using Body = std::function<void(Communicator&)>;

/// Stands for the error of a rank that another process has.
inline constexpr char kElsewhere[] = "(in another process)";

/// Runs `body` on every rank; the messages of the errors, empty where there was none.
inline std::vector<std::string> run_ranks(const MakeGroup& make, int size, const Body& body,
                                          double timeout_seconds = 60) {
  auto transports = make(size);
  std::vector<std::unique_ptr<Communicator>> group;
  for (auto& transport : transports)
    group.push_back(std::make_unique<Communicator>(
        std::move(transport), CommunicatorOptions{.timeout_seconds = timeout_seconds}));
  std::vector<std::string> errors(size_t(size), kElsewhere);
  std::vector<std::thread> threads;
  for (auto& one : group) {
    std::string& failure = errors[size_t(one->rank())];
    failure = "";
    threads.emplace_back([&body, &one, &failure] {
      try {
        body(*one);
      } catch (const Error& error) {
        failure = error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return errors;
}

inline void run_clean(const MakeGroup& make, int size, const Body& body) {
  for (const std::string& error : run_ranks(make, size, body))
    if (error != kElsewhere) CHECK(error == "");
}

template <typename T>
bool same_bits(const T* a, const T* b, size_t count) {
  return std::memcmp(a, b, count * sizeof(T)) == 0;
}

/// std::vector<bool> has no data().
template <typename T>
struct Array {
  explicit Array(const std::vector<T>& from) : size(from.size()), data(new T[from.size() + 1]) {
    std::copy(from.begin(), from.end(), data.get());
  }
  explicit Array(int64_t count) : Array(std::vector<T>(size_t(count))) {}
  T* get() const { return data.get(); }
  size_t size;
  std::unique_ptr<T[]> data;
};

/// One all-reduce, for every rank of a group of `size`.
template <typename T>
Body all_reduce_case(int size, int64_t count, ReductionOp op) {
  const auto parts = std::make_shared<std::vector<std::vector<T>>>();  // a Body is copied
  for (int r = 0; r < size; ++r) parts->push_back(numbers<T>(r, count));
  return [parts, want = std::make_shared<Array<T>>(expected(op, *parts)), count,
          op](Communicator& group) {
    Array<T> data((*parts)[size_t(group.rank())]);
    group.all_reduce(data.get(), count, dtype_of<T>, op);
    const bool equal = same_bits(data.get(), want->get(), want->size);
    if (!equal) throw InternalError(str_cat("wrong bits, count ", count, ", ", name_of(op)));
  };
}

template <typename T>
void all_reduce_of(const MakeGroup& make, int size, int64_t count, ReductionOp op) {
  run_clean(make, size, all_reduce_case<T>(size, count, op));
}

/// All in one group, which some transports take long to make.
inline void run_cases(const MakeGroup& make, int size, const std::vector<Body>& cases) {
  run_clean(make, size, [&](Communicator& group) {
    for (const Body& one : cases) one(group);
  });
}

inline void all_reduce_cases(const MakeGroup& make) {
  const int size = GENERATE(1, 2, 3, 4, 5, 8);
  CAPTURE(size);
  SECTION("all_reduce: sums in the fixed order, the same bits on every rank, for any count") {
    std::vector<Body> cases;
    for (int64_t count : {0, 1, 2, 7, 1000, 1025, 66'000, 700'001})
      cases.push_back(all_reduce_case<float>(size, count, ReductionOp::Sum));
    run_cases(make, size, cases);
  }
  SECTION("all_reduce: every operation and dtype") {
    std::vector<Body> cases;
    for (ReductionOp op : {ReductionOp::Sum, ReductionOp::Mean, ReductionOp::Min, ReductionOp::Max,
                           ReductionOp::Product})
      for (int64_t count : {5, 50'000}) {
        cases.push_back(all_reduce_case<float>(size, count, op));
        cases.push_back(all_reduce_case<bfloat16>(size, count, op));
        cases.push_back(all_reduce_case<float16>(size, count, op));
        cases.push_back(all_reduce_case<int32_t>(size, count, op));
        cases.push_back(all_reduce_case<int64_t>(size, count, op));
        cases.push_back(all_reduce_case<uint8_t>(size, count, op));
        if (op != ReductionOp::Mean) cases.push_back(all_reduce_case<bool>(size, count, op));
      }
    run_cases(make, size, cases);
  }
}

/// Counts of ranks, one of them nothing.
inline std::vector<int64_t> uneven(int size, int64_t scale) {
  std::vector<int64_t> counts;
  for (int r = 0; r < size; ++r) counts.push_back(r == 1 ? 0 : scale + 3 * r);
  return counts;
}

inline void other_collectives(const MakeGroup& make) {
  const int size = GENERATE(1, 2, 3, 5, 8);
  const int64_t scale = GENERATE(1, 500, 90'000);
  const int root = size - 1;
  CAPTURE(size, scale);
  const auto counts = uneven(size, scale);
  const int64_t all = total(counts);
  const auto check = [](bool right, const char* what) {
    if (!right) throw InternalError(str_cat("wrong result of ", what));
  };
  const auto part_of = [&](int rank) { return numbers<float>(rank, counts[size_t(rank)]); };
  std::vector<float> joined;
  for (int r = 0; r < size; ++r) {
    const auto part = part_of(r);
    joined.insert(joined.end(), part.begin(), part.end());
  }

  SECTION("all_gather and gather join uneven parts in rank order") {
    run_clean(make, size, [&](Communicator& group) {
      const auto mine = part_of(group.rank());
      std::vector<float> out(size_t(all), -1.0f);
      group.all_gather(mine.data(), out.data(), counts, DType::Float32);
      check(out == joined, "all_gather");
      std::fill(out.begin(), out.end(), -1.0f);
      group.all_gather_async(mine.data(), out.data(), counts, DType::Float32).wait();
      check(out == joined, "all_gather_async");
      std::fill(out.begin(), out.end(), -1.0f);
      group.gather(mine.data(), out.data(), counts, DType::Float32, root);
      check(group.rank() == root ? out == joined : out == std::vector<float>(size_t(all), -1.0f),
            "gather");
    });
  }
  SECTION("reduce and reduce_scatter sum in the same order") {
    std::vector<std::vector<float>> parts;
    for (int r = 0; r < size; ++r) parts.push_back(numbers<float>(r, all));
    const std::vector<float> sum = expected(ReductionOp::Sum, parts);
    run_clean(make, size, [&](Communicator& group) {
      auto data = numbers<float>(group.rank(), all);
      const auto before = data;
      std::vector<float> out(static_cast<size_t>(counts[size_t(group.rank())]));
      group.reduce_scatter(data.data(), out.data(), counts, DType::Float32);
      check(data == before, "reduce_scatter: the input changed");
      auto everything = data;
      group.all_reduce(everything.data(), all, DType::Float32);
      const auto begin =
          everything.begin() + std::accumulate(counts.begin(), counts.begin() + group.rank(), 0ll);
      check(std::equal(out.begin(), out.end(), begin), "reduce_scatter");
      std::fill(out.begin(), out.end(), -1.0f);
      group.reduce_scatter_async(data.data(), out.data(), counts, DType::Float32).wait();
      check(std::equal(out.begin(), out.end(), begin), "reduce_scatter_async");
      group.reduce(data.data(), all, DType::Float32, ReductionOp::Sum, root);
      check(group.rank() == root ? data == everything : data == before, "reduce");
      check(everything == sum, "the sums");
    });
  }
  SECTION("broadcast and all_to_all") {
    run_clean(make, size, [&](Communicator& group) {
      const int rank = group.rank();
      auto data = numbers<float>(rank, all);
      group.broadcast(data.data(), all, DType::Float32, root);
      check(data == numbers<float>(root, all), "broadcast");
      group.broadcast(data.data(), all, DType::Float32, 0);
      std::vector<int32_t> out(size_t(size * scale)), want(out.size()), in(out.size());
      for (int r = 0; r < size; ++r)
        for (int64_t i = 0; i < scale; ++i) {
          in[size_t(r * scale + i)] = int32_t(1000 * rank + r + i);
          want[size_t(r * scale + i)] = int32_t(1000 * r + rank + i);
        }
      group.all_to_all(in.data(), out.data(), scale, DType::Int32);
      check(out == want, "all_to_all");
    });
  }
  SECTION("send and receive go round the ring") {
    if (size == 1) return;
    run_clean(make, size, [&](Communicator& group) {
      const int rank = group.rank(), to = (rank + 1) % size, from = (rank + size - 1) % size;
      const auto mine = numbers<float>(rank, scale);
      std::vector<float> got(static_cast<size_t>(scale));
      for (int round = 0; round < 3; ++round) {
        if (rank == 0) group.send(mine.data(), scale, DType::Float32, to);
        group.receive(got.data(), scale, DType::Float32, from);
        check(got == numbers<float>(from, scale), "receive");
        if (rank != 0) group.send(mine.data(), scale, DType::Float32, to);
      }
      group.barrier();
    });
  }
}

inline void order_and_errors(const MakeGroup& make) {
  const int size = GENERATE(2, 3, 5);
  CAPTURE(size);
  SECTION("asynchronous operations and blocking ones keep their order") {
    run_clean(make, size, [&](Communicator& group) {
      std::vector<std::vector<float>> data;
      std::vector<Work> works;
      for (int i = 0; i < 20; ++i) data.emplace_back(size_t(1 + 3000 * (i % 4)), float(i));
      for (auto& one : data)
        works.push_back(
            group.all_reduce_async(one.data(), one.data(), int64_t(one.size()), DType::Float32));
      int64_t last = 1;
      group.all_reduce(&last, 1, DType::Int64);
      for (const Work& work : works) work.wait();
      for (int i = 0; i < 20; ++i)
        if (data[size_t(i)].back() != float(i * size)) throw InternalError("wrong sum");
      if (last != size) throw InternalError("wrong last sum");
    });
  }
  SECTION("different collectives: all ranks say both") {
    const auto errors = run_ranks(make, size, [&](Communicator& group) {
      std::vector<float> data(100);
      group.barrier();
      if (group.rank() == 1)
        group.broadcast(data.data(), 100, DType::Float32, 0);
      else
        group.all_reduce(data.data(), 100, DType::Float32);
      group.barrier();
    });
    int named = 0;
    for (const std::string& error : errors) {
      CHECK(error != "");
      named += error == kElsewhere ||
               (error.find("all_reduce(sum) #2 float32 x 100") != std::string::npos &&
                error.find("broadcast #2 float32 x 100") != std::string::npos);
    }
    CHECK(named >= 1);
  }
  SECTION("different dtypes and counts are refused") {
    for (const auto& [dtype, count] : {std::pair(DType::Int32, 100), {DType::Float32, 99}}) {
      const auto errors = run_ranks(make, size, [&, d = dtype, c = count](Communicator& group) {
        std::vector<float> data(100);
        const bool odd = group.rank() == size - 1;
        group.all_reduce(data.data(), odd ? c : 100, odd ? d : DType::Float32);
        group.barrier();
      });
      for (const std::string& error : errors) CHECK(error != "");
    }
  }
  SECTION("a rank that does not come: deadline, with its number") {
    const auto errors = run_ranks(
        make, size,
        [&](Communicator& group) {
          if (group.rank() == 1) return;
          float x = 1;
          group.all_reduce(&x, 1, DType::Float32);
        },
        0.3);
    for (int r = 0; r < size; ++r) {
      if (r == 1 || errors[size_t(r)] == kElsewhere) continue;
      CAPTURE(errors[size_t(r)]);
      CHECK(errors[size_t(r)].find("rank 1") != std::string::npos);
    }
  }
  SECTION("abort ends an operation that waits, and every later one") {
    std::vector<Communicator*> all(size_t(size), nullptr);
    const auto errors = run_ranks(make, size, [&](Communicator& group) {
      float x = 1;
      group.all_reduce(&x, 1, DType::Float32);
      if (group.rank() == 0) {
        std::thread killer([&] { group.abort(StatusCode::Unavailable, "worker 7 is lost"); });
        try {
          group.receive(&x, 1, DType::Float32, 1);  // which is not sent
        } catch (const UnavailableError&) {
        }
        killer.join();
        group.barrier();
      }
    });
    if (errors[0] != kElsewhere) CHECK(errors[0].find("worker 7 is lost") != std::string::npos);
  }
  SECTION("a rank that has left ends the waits for it; what it has sent before is taken") {
    const auto errors = run_ranks(make, size, [&](Communicator& group) {
      float x = float(group.rank());
      if (group.rank() == 1) group.send(&x, 1, DType::Float32, 0);
      group.barrier();
      if (group.rank() == 1) return;
      group.depart(1, "worker 1 has left the job");
      if (group.rank() == 0) group.receive(&x, 1, DType::Float32, 1);
      if (group.rank() == 0 && x != 1) throw InternalError("wrong message");
      group.all_reduce(&x, 1, DType::Float32);
    });
    for (int r = 0; r < size; ++r) {
      CAPTURE(r, errors[size_t(r)]);
      if (r != 1 && errors[size_t(r)] != kElsewhere)
        CHECK(errors[size_t(r)].find("worker 1 has left the job") != std::string::npos);
    }
  }
}

/// All of it, for a TEST_CASE.
inline void check(const MakeGroup& make) {
  SECTION("all_reduce") { all_reduce_cases(make); }
  SECTION("others") { other_collectives(make); }
  SECTION("errors") { order_and_errors(make); }
}

}  // namespace contract
