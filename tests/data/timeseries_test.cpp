// Numbers are those of keras.utils.timeseries_dataset_from_array, Keras 3.15.
#include <distribute/data/dataset.hpp>
#include <distribute/data/grouping.hpp>
#include <distribute/ops/arrangement.hpp>
#include <distribute/ops/array.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>

#include <set>

using namespace distribute;
using data::timeseries_dataset_from_array;

namespace {

using Rows = std::vector<std::vector<float>>;
struct Read {
  Rows x, y;
};
Read read(const data::Dataset& dataset) {
  Read all;
  for (const data::Batch& batch : dataset) {
    all.x.push_back(cast(batch.x, DType::Float32).to_vector());
    all.y.push_back(batch.y ? cast(batch.y, DType::Float32).to_vector() : std::vector<float>());
  }
  return all;
}

}  // namespace

TEST_CASE("sequences of a series have the target of their first row", "[data][timeseries]") {
  const Tensor ten = range(int64_t{10});
  const auto plain = read(
      timeseries_dataset_from_array(ten, range(int64_t{100}, int64_t{107}), 3, {.batch_size = 4}));
  CHECK(plain.x == Rows{{0, 1, 2, 1, 2, 3, 2, 3, 4, 3, 4, 5}, {4, 5, 6, 5, 6, 7, 6, 7, 8}});
  CHECK(plain.y == Rows{{100, 101, 102, 103}, {104, 105, 106}});
  const auto odd = read(timeseries_dataset_from_array(ten, ten, 3,
                                                      {.sequence_stride = 2,
                                                       .sampling_rate = 2,
                                                       .batch_size = 2,
                                                       .start_index = 1,
                                                       .end_index = 9}));
  CHECK(odd.x == Rows{{1, 3, 5, 3, 5, 7}});
  CHECK(odd.y == Rows{{1, 3}});
  const auto alone = read(timeseries_dataset_from_array(ten, {}, 9, {.batch_size = {}}));
  CHECK(alone.x == Rows{{0, 1, 2, 3, 4, 5, 6, 7, 8}, {1, 2, 3, 4, 5, 6, 7, 8, 9}});
  CHECK(alone.y == Rows{{}, {}});
}

TEST_CASE("sequences of a series are shuffled with their targets", "[data][timeseries]") {
  const Tensor many = range(int64_t{50});
  const auto dataset =
      timeseries_dataset_from_array(many, many, 2, {.batch_size = {}, .shuffle = true, .seed = 3});
  std::set<float> starts;
  const Read first = read(dataset), second = read(dataset);
  for (size_t i = 0; i < first.x.size(); ++i) {
    CHECK(first.x[i] == std::vector<float>{first.y[i][0], first.y[i][0] + 1});
    starts.insert(first.y[i][0]);
  }
  CHECK(starts.size() == 49);
  CHECK(first.y != second.y);
}

TEST_CASE("numbers that do not fit a series are refused", "[data][timeseries]") {
  const Tensor ten = range(int64_t{10});
  const auto refused = [&](const char* what, int64_t length, data::TimeseriesOptions options) {
    CHECK_THROWS_SAYING(timeseries_dataset_from_array(ten, ten, length, options),
                        InvalidArgumentError, what);
  };
  refused("sequence_length is 0", 0, {});
  refused("sampling_rate is 10", 2, {.sampling_rate = 10});
  refused("sequence_stride is 0", 2, {.sequence_stride = 0});
  refused("start_index is -1", 2, {.start_index = -1});
  refused("end_index is 3", 2, {.start_index = 3, .end_index = 3});
  refused("batch_size is 0", 2, {.batch_size = 0});
  CHECK_THROWS_SAYING(timeseries_dataset_from_array(ten, ten.rows(0, 5), 2, {.start_index = 3}),
                      InvalidArgumentError, "5 rows of targets");
}
