#include <distribute/distribute.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/count_up.hpp>

#include <vector>

using namespace distribute;
using Catch::Contains;

namespace {

/// Rows of count_up({sum, width}) over shards of these sizes.
ShardedVariable make(const std::vector<int64_t>& rows, int64_t width = 2) {
  std::vector<Variable> parts;
  float first = 0;
  for (int64_t n : rows) {
    parts.emplace_back(count_up({n, width}, first));
    first += float(n * width);
  }
  return ShardedVariable(parts, "table");
}

bool same(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && a.to_vector() == b.to_vector();
}

}  // namespace

TEST_CASE("shards are read as one tensor and written in pieces (case 91)",
          "[strategy][sharded_variable]") {
  const ShardedVariable table = make({3, 2, 2});
  CHECK(table.size() == 3);
  CHECK(table.name() == "table");
  CHECK(table.shape() == Shape{7, 2});
  CHECK(table.trainable());
  CHECK(same(table, count_up({7, 2})));
  table.assign(count_up({7, 2}, 10));
  CHECK(same(table.variables()[1], count_up({2, 2}, 16)));
  table.assign_add(ones({7, 2}));
  table.assign_sub(fill({7, 2}, 3.0));
  CHECK(same(table, count_up({7, 2}, 8)));
  int64_t rows = 0;
  for (const Variable& part : table) {
    const auto& info = part.impl().save_slice_info();
    REQUIRE(info);
    CHECK(info->begin == rows);
    CHECK(info->full_name == "table");
    CHECK(info->full_shape == Shape{7, 2});
    rows += part.shape()[0];
  }
  check_throws<InvalidArgumentError>([&] { table.assign(ones({3, 2})); }, "[7, 2]");
  const Variable plain(table);  // a handle like any other
  CHECK(ShardedVariable(plain).size() == 3);
  check_throws<InvalidArgumentError>([&] { ShardedVariable{table.variables()[0]}; }, "no shards");
}

TEST_CASE("a sharded variable refuses what does not fit (case 91)",
          "[strategy][sharded_variable]") {
  using List = std::vector<Variable>;
  const auto make_from = [](const List& parts) { ShardedVariable table(parts); };
  check_throws<InvalidArgumentError>([&] { make_from({}); }, "non-empty");
  check_throws<InvalidArgumentError>([&] { make_from({Variable()}); }, "none");
  check_throws<InvalidArgumentError>(
      [&] {
        make_from({Variable(ones({2, 2})), Variable(zeros({2, 2}, DType::Int64))});
      },
      "same dtype");
  check_throws<InvalidArgumentError>(
      [&] {
        make_from({Variable(ones({2, 2})), Variable(ones({2, 3}))});
      },
      "same shapes except for the first axis");
  check_throws<InvalidArgumentError>([&] { make_from({Variable(ones({}))}); }, "first axis");
  check_throws<InvalidArgumentError>(
      [&] {
        make_from(make({2, 2}).variables());
      },
      "`SaveSliceInfo` should not be set");
}

TEST_CASE("gradients of the whole reach each shard", "[strategy][sharded_variable]") {
  const ShardedVariable table = make({2, 1, 2});
  const Tensor weights = count_up({5, 2}, 100);
  GradientTape tape;
  const Tensor loss = reduce_sum(Tensor(table) * weights);
  std::vector<Variable> sources = table.variables();
  sources.push_back(table);
  const auto gradients = tape.gradient(loss, sources);
  CHECK(same(gradients[0], count_up({2, 2}, 100)));
  CHECK(same(gradients[1], count_up({1, 2}, 104)));
  CHECK(same(gradients[2], count_up({2, 2}, 106)));
  CHECK(same(gradients[3], weights));
}

TEST_CASE("slices are those of the whole tensor, negative steps too (case 91)",
          "[strategy][sharded_variable]") {
  const ShardedVariable table =
      make(GENERATE(std::vector<int64_t>{7}, std::vector<int64_t>{3, 2, 2},
                    std::vector<int64_t>{1, 1, 1, 1, 1, 1, 1}));
  const Tensor whole = count_up({7, 2});
  constexpr int64_t kNone = Range::kNone;
  for (const int64_t begin : std::vector<int64_t>{kNone, 0, 2, 6, 9, -1, -3, -9})
    for (const int64_t end : std::vector<int64_t>{kNone, 0, 3, 7, 9, -1, -4, -9})
      for (const int64_t step : {1, 2, 5, 9, -1, -2, -5, -9}) {
        CAPTURE(begin, end, step);
        const Range range{begin, end, step};
        CHECK(same(table.slice({range}), strided_slice(whole, {range})));
      }
  const Range last{-1, kNone}, reversed{kNone, kNone, -1};
  CHECK(same(table.slice({reversed, last}), strided_slice(whole, {reversed, last})));
  CHECK(same(table.slice({}), whole));
  CHECK(same(table[3], Tensor{6.0f, 7.0f}));
  CHECK(same(table[-1], Tensor{12.0f, 13.0f}));
  check_throws<OutOfRangeError>([&] { (void)table[7]; }, "7 rows");
  check_throws<OutOfRangeError>([&] { (void)table[-8]; }, "7 rows");
}

TEST_CASE("a slice sends its gradient to the shards it read", "[strategy][sharded_variable]") {
  const ShardedVariable table = make({3, 2});
  GradientTape tape;
  const Tensor part = table.slice({Range{3, 0, -2}});  // rows 3, 1
  const auto gradients = tape.gradient(reduce_sum(part * count_up({2, 2}, 1)), table.variables());
  CHECK(gradients[0].to_vector() == std::vector<float>{0, 0, 3, 4, 0, 0});
  CHECK(gradients[1].to_vector() == std::vector<float>{1, 2, 0, 0});
}

TEST_CASE("embeddings look up in each shard and give sparse gradients (case 91)",
          "[strategy][sharded_variable]") {
  const ShardedVariable table = make({3, 2, 2});
  const Tensor ids({2, 3}, std::vector<int64_t>{6, 0, 3, 0, 2, 0});
  GradientTape tape;
  const Tensor found = nn::embedding_lookup(table, ids);
  CHECK(same(found, nn::embedding_lookup(count_up({7, 2}), ids)));
  const auto gradients =
      tape.gradient(reduce_sum(found * count_up({2, 3, 2}, 1)), table.variables());
  for (const Tensor& gradient : gradients) CHECK(is_indexed_slices(gradient));
  CHECK(gradients[0].to_vector() == std::vector<float>{3 + 7 + 11, 4 + 8 + 12, 0, 0, 9, 10});
  CHECK(gradients[1].to_vector() == std::vector<float>{5, 6, 0, 0});
  CHECK(gradients[2].to_vector() == std::vector<float>{0, 0, 1, 2});
  check_throws<InvalidArgumentError>(
      [&] { nn::embedding_lookup(table, Tensor({1}, std::vector<int64_t>{7})); }, "[0, 7)");
}

TEST_CASE("scattered rows reach the shards that have them", "[strategy][sharded_variable]") {
  const ShardedVariable table = make({3, 2, 2});
  const Tensor untouched = table.variables()[1].value();
  table.scatter_update({Tensor(Shape{3, 2}, std::vector<float>{1, 2, 3, 4, 5, 6}),
                        Tensor(Shape{3}, std::vector<int64_t>{6, 0, 6}),
                        {}});
  CHECK(table[0].to_vector() == std::vector<float>{3, 4});
  CHECK(table[6].to_vector() == std::vector<float>{5, 6});  // the last one wins
  CHECK(table[1].to_vector() == std::vector<float>{2, 3});
  CHECK(table.variables()[1].value().id() == untouched.id());
  check_throws<InvalidArgumentError>(
      [&] {
        table.scatter_add({ones({1, 2}), Tensor{int64_t{7}}, {}});
      },
      "[0, 7)");
}
