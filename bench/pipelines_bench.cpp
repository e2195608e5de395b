// Elements a second of CPU time of a pipeline, one measurement a call.
// g++ -std=c++20 -O2 -Iinclude -I/usr/include/eigen3 -fopenmp bench/pipelines_bench.cpp
//     -o pipelines_bench -lz -labsl_...
// ./pipelines_bench small COUNT         map, shuffle and batch of COUNT small elements
// ./pipelines_bench sequences FILE      SequenceExamples of a TFRecord file
// ./pipelines_bench autotune COUNT      wall-clock elements a second of a map with kAutotune whose
//                                       function sleeps 1 ms
// bench/peers/pipelines_peer.py makes the file and runs it beside tf.data.
#include <distribute/strategy.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "cpu_seconds.hpp"

using namespace distribute;

namespace {

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

data::Dataset small(int64_t count) {
  return data::Dataset::range(count)
      .map([](const data::Batch& element) {
        return data::Batch{
            .x = Tensor(Shape{}, std::vector<int64_t>{2 * element.x.item<int64_t>() + 1})};
      })
      .shuffle(10'000, {.seed = 1})
      .batch(128);
}

data::Dataset sequences(const char* file) {
  return data::tfrecord_dataset({file}).map([](const data::Batch& record) {
    const auto parsed = data::parse_single_sequence_example(
        data::bytes_of(record.x), {{"label", data::fixed_len_feature(data::FeatureKind::Int64)}},
        {{"frames", data::fixed_len_sequence_feature(data::FeatureKind::Float, {16})},
         {"words", data::fixed_len_sequence_feature(data::FeatureKind::Int64)}},
        "a record");
    return data::Batch{parsed.feature_lists.at("frames").values,
                       parsed.feature_lists.at("words").values,
                       {parsed.context.at("label").values}};
  });
}

data::Dataset sleeping(int64_t count) {
  return data::Dataset::range(count)
      .map(
          [](const data::Batch& element) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
            return element;
          },
          {.num_parallel_calls = data::kAutotune})
      .batch(1)
      .prefetch();
}

double rate(const data::Dataset& dataset, double (*clock)()) {
  const double begin = clock();
  int64_t elements = 0;
  for (const data::Batch& element : dataset)
    elements += element.size() == 1 ? data::batch_size(element) : 1;
  return double(elements) / (clock() - begin);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const std::string_view what = argv[1];
  const int64_t count = std::atoll(argv[2]);
  const double found = what == "sequences"  ? rate(sequences(argv[2]), cpu_seconds)
                       : what == "autotune" ? rate(sleeping(count), wall_seconds)
                                            : rate(small(count), cpu_seconds);
  std::printf("{\"elements_per_second\": %.0f}\n", found);
}
