#include <distribute/base/error.hpp>
#include <distribute/strategy/sharded_variable.hpp>

#include <tests/support/answer_table.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>

#include <vector>

using namespace distribute;
using namespace distribute::partitioners;
using Counts = std::vector<int64_t>;

TEST_CASE("fixed shards: that many, or as many as there are rows (case 90)",
          "[strategy][partitioners]") {
  const FixedShardsPartitioner two(2);
  CHECK(two({10, 3}, DType::Float32) == Counts{2, 1});
  CHECK(two({1, 3}, DType::Float32) == Counts{1, 1});
  CHECK(two({10, 3}, DType::Float32, 1) == Counts{1, 2});
  CHECK(two({3, 4, 5}, DType::Float32, -1) == Counts{1, 1, 2});
  check_throws<InvalidArgumentError>([&] { two({10}, DType::Float32, 1); }, "axis");
  check_throws<InvalidArgumentError>([] { FixedShardsPartitioner(0); }, "num_shards");
}

TEST_CASE("minimal size: a shard for each beginning of the bytes (case 90)",
          "[strategy][partitioners]") {
  CHECK(MinSizePartitioner(4, 2)({6, 1}, DType::Float32) == Counts{2, 1});
  CHECK(MinSizePartitioner(4, 10)({6, 1}, DType::Float32) == Counts{6, 1});
  CHECK(MinSizePartitioner(16, 10)({10, 1}, DType::Float32) == Counts{3, 1});
  CHECK(MinSizePartitioner(100, 10)({6, 1}, DType::Float32) == Counts{1, 1});
  CHECK(MinSizePartitioner(8, 10)({6, 1}, DType::Int64) == Counts{6, 1});
  CHECK(MinSizePartitioner()({1 << 20, 1}, DType::Float32) == Counts{1, 1});
  check_throws<InvalidArgumentError>([] { MinSizePartitioner(0); }, "min_shard_bytes");
  check_throws<InvalidArgumentError>([] { MinSizePartitioner(4, 0); }, "max_shards");
}

TEST_CASE("maximal size: as few shards as have at most the bytes (case 90)",
          "[strategy][partitioners]") {
  CHECK(MaxSizePartitioner(4)({6, 1}, DType::Float32) == Counts{6, 1});
  CHECK(MaxSizePartitioner(4, 2)({6, 1}, DType::Float32) == Counts{2, 1});
  CHECK(MaxSizePartitioner(1024)({6, 1}, DType::Float32) == Counts{1, 1});
  CHECK(MaxSizePartitioner(8)({6, 1}, DType::Float32) == Counts{3, 1});
  CHECK(MaxSizePartitioner(12)({7, 1}, DType::Float32) == Counts{3, 1});
  CHECK(MaxSizePartitioner(1)({7, 4}, DType::Float32) == Counts{7, 1});  // a row is never cut
  check_throws<InvalidArgumentError>([] { MaxSizePartitioner(0); }, "max_shard_bytes");
  check_throws<InvalidArgumentError>([] { MaxSizePartitioner(4, 0); }, "max_shards");
}

// tests/data/strategy/tensorflow_answers.py
TEST_CASE("partitioners cut as TensorFlow's do", "[strategy][partitioners]") {
  for (const auto& answer : distribute_test::read_answers("strategy/partitioners.txt", 2160)) {
    INFO(answer.line);
    const auto number = [&](size_t i) { return int64_t(std::stoll(answer.words[i])); };
    const std::string& type = answer.words[1];
    const DType dtype = type == "int64"      ? DType::Int64
                        : type == "bfloat16" ? DType::BFloat16
                                             : DType::Float32;
    const int64_t bytes = number(4), most = number(5);
    const VariablePartitioner made =
        answer.words[0] == "min"
            ? VariablePartitioner(MinSizePartitioner(bytes, most ? most : 1))
            : MaxSizePartitioner(bytes, most ? std::optional(most) : std::nullopt);
    CHECK(made.get()({number(2), number(3)}, dtype) == Counts{std::stoll(answer.answer[0]), 1});
  }
  CHECK(MaxSizePartitioner(10, 3)({0, 3}, DType::Float32) == Counts{1, 1});  // there: an exception
}

TEST_CASE("options stand for a partitioner", "[strategy][partitioners]") {
  const auto counts = [](const VariablePartitioner& p, const Shape& shape) {
    return p.get()(shape, DType::Float32);
  };
  CHECK(counts({.min_shard_bytes = 256 << 10, .max_shards = 2}, {784, 500}) == Counts{2, 1});
  CHECK(counts({.min_shard_bytes = 256 << 10, .max_shards = 2}, {784, 10}) == Counts{1, 1});
  CHECK(counts({.max_shard_bytes = 16}, {10, 2}) == Counts{5, 1});
  CHECK(counts({.max_shard_bytes = 16, .max_shards = 3}, {10, 2}) == Counts{3, 1});
  CHECK(counts({.num_shards = 3}, {10, 2}) == Counts{3, 1});
  CHECK(counts({.max_shards = 3}, {1 << 20, 2}) == Counts{3, 1});
  CHECK(counts(FixedShardsPartitioner(4), {10, 2}) == Counts{4, 1});
  CHECK(counts({[](const Shape&, DType) { return Counts{2, 1}; }}, {10, 2}) == Counts{2, 1});
  CHECK_FALSE(VariablePartitioner{}.get());
  check_throws<InvalidArgumentError>(
      [] { VariablePartitioner{.num_shards = 2, .min_shard_bytes = 8}.get(); }, "one of");
  check_throws<InvalidArgumentError>(
      [] { VariablePartitioner{.num_shards = 2, .max_shards = 8}.get(); }, "max_shards");
}

TEST_CASE("shards have the rows of TensorFlow's div strategy", "[strategy][partitioners]") {
  Counts sizes;
  int64_t next = 0;
  for (const auto& rows : strategy_internal::shard_rows(13, 5)) {
    CHECK(rows.begin == next);
    sizes.push_back(rows.end - rows.begin);
    next = rows.end;
  }
  CHECK(sizes == Counts{3, 3, 3, 2, 2});
  CHECK(next == 13);
}

TEST_CASE("answers that make no sense are errors (cases 85, 86)", "[strategy][partitioners]") {
  const auto shards = [](Counts answer, const Shape& shape) {
    return strategy_internal::num_shards([answer](const Shape&, DType) { return answer; }, "v",
                                         shape, DType::Float32);
  };
  CHECK(shards({4, 1}, {3, 2}) == 3);
  CHECK(shards({1, 1}, {3, 2}) == 1);
  CHECK(shards({}, {}) == 1);  // a scalar is not asked about
  for (const Counts& bad :
       {Counts{}, Counts{0, 1, 1}, Counts{2, 2, 1}, Counts{2, 1}, Counts{-1, 1, 1}})
    check_throws<InvalidArgumentError>([&] { shards(bad, {4, 2, 3}); }, "variable_partitioner");
  CHECK(strategy_internal::num_shards(nullptr, "v", {3, 2}, DType::Float32) == 1);
}
