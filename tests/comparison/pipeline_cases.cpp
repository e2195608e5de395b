/// Transformations of datasets, as pipeline_cases.py prints them.
#include "function_cases.hpp"

#include <distribute/data/dataset.hpp>
#include <distribute/data/grouping.hpp>
#include <distribute/ops/math.hpp>

namespace comparison {

namespace {

using dist::str_cat;
using dist::data::Batch;
using dist::data::Dataset;
using Sizes = std::vector<int64_t>;
using Shapes = std::vector<Sizes>;

std::string text(bool value) { return value ? " True" : " False"; }
int64_t number(const Batch& element, size_t at = 0) { return element[at].item<int64_t>(); }

std::string elements(const Dataset& dataset) {
  std::string all;
  for (const Batch& element : dataset.take(40))
    all += (all.empty() ? "(" : " (") + numbers(element.components()) + ")";
  return all;
}

template <typename Make>
void of_data(const std::string& name, Make make) {
  print_case("pipelines/" + name, [&] { return elements(make()); });
}

Dataset ten() { return Dataset::range(10); }

void size_cases() {
  for (const int64_t size : {1, 3, 5, 11, 0, -1})
    for (const bool drop : {false, true})
      of_data(str_cat("batch ", size, text(drop)), [=] { return ten().batch(size, drop); });
  for (const auto& [start, stop, step] : std::vector<std::array<int64_t, 3>>{
           {0, 5, 1}, {5, 0, -2}, {0, 5, -1}, {2, 2, 1}, {-3, 4, 3}, {0, 5, 0}})
    of_data(str_cat("range ", start, " ", stop, " ", step),
            [a = start, b = stop, c = step] { return Dataset::range(a, b, c); });
  for (const int64_t count : {0, 3, -1, 99, -2}) {
    of_data(str_cat("take ", count), [=] { return ten().take(count); });
    of_data(str_cat("skip ", count), [=] { return ten().skip(count); });
    of_data(str_cat("repeat ", count), [=] { return Dataset::range(2).repeat(count); });
  }
  for (const auto& [shards, index] :
       std::vector<std::pair<int64_t, int64_t>>{{3, 0}, {3, 2}, {3, 3}, {3, -1}, {0, 0}, {12, 11}})
    of_data(str_cat("shard ", shards, " ", index),
            [n = shards, i = index] { return ten().shard(n, i); });
  for (const int64_t start : {0, 5, -2})
    of_data(str_cat("enumerate ", start), [=] { return Dataset::range(3).enumerate(start); });
}

void joining_cases() {
  const auto range = [](int64_t a, int64_t b) { return Dataset::range(a, b); };
  of_data("zip", [&] { return Dataset::zip({range(0, 3), range(5, 10)}); });
  of_data("zip with an empty one", [&] { return Dataset::zip({range(0, 3), range(0, 0)}); });
  of_data("concatenate", [&] { return range(0, 2).concatenate(range(5, 7)); });
  of_data("concatenate dtypes",
          [&] { return range(0, 2).concatenate(Dataset::from_tensor_slices(vec({1}))); });
  of_data("filter", [] { return ten().filter([](const Batch& e) { return number(e) % 3 == 1; }); });
  of_data("filter none",
          [] { return ten().filter([](const Batch& e) { return number(e) > 100; }); });
  of_data("unbatch", [] { return ten().batch(4).unbatch(); });
  of_data("unbatch matrices", [] {
    std::vector<float> values;
    for (int i = 0; i < 12; ++i) values.push_back(float(i));
    return Dataset::from_tensors(matrix({2, 3, 2}, values)).unbatch();
  });
  for (const Sizes& sizes : std::vector<Sizes>{{3}, {2, 1}, {4, 3, 2}, {12}})
    for (const bool drop : {false, true})
      of_data("rebatch " + list(sizes) + text(drop),
              [&] { return ten().batch(4).rebatch(sizes, drop); });
  of_data("batch of batches", [] { return ten().batch(2).batch(2); });
  of_data("batch of unequal sizes", [] { return ten().batch(4).batch(2); });
}

Dataset part(const Batch& element) {
  const int64_t i = number(element);
  return Dataset::range(i * 10, i * 10 + i);
}

void interleave_cases() {
  for (const int64_t cycle : {1, 2, 3, 9})
    for (const int64_t block : {1, 2, 3})
      of_data(str_cat("interleave ", cycle, " ", block), [=] {
        return Dataset::range(5).interleave(part, {.cycle_length = cycle, .block_length = block});
      });
  of_data("interleave of nothing", [] { return Dataset::range(0).interleave(part); });
  of_data("interleave of empty ones", [] {
    return Dataset::range(4).interleave([](const Batch&) { return Dataset::range(0); });
  });
  of_data("interleave 0", [] { return Dataset::range(4).interleave(part, {.cycle_length = 0}); });
  of_data("interleave block 0",
          [] { return Dataset::range(4).interleave(part, {.block_length = 0}); });
  of_data("flat_map", [] { return Dataset::range(4).flat_map(part); });
}

void window_cases_of_data() {
  struct Case {
    int64_t size;
    std::optional<int64_t> shift;
    int64_t stride;
    bool drop;
  };
  const std::vector<Case> all{
      {3, {}, 1, false},  {3, {}, 1, true},  {3, 1, 1, false}, {3, 1, 1, true}, {3, 1, 2, false},
      {3, 1, 2, true},    {2, 4, 1, false},  {2, 4, 3, false}, {2, 4, 3, true}, {9, 2, 1, true},
      {99, {}, 1, false}, {0, {}, 1, false}, {2, 0, 1, false}, {2, 1, 0, false}};
  for (const auto& [size, shift, stride, drop] : all)
    of_data(
        str_cat("window ", size, " ", shift ? str_cat(*shift) : "None", " ", stride, text(drop)),
        [size = size, shift = shift, stride = stride, drop = drop] {
          return ten()
              .take(7)
              .window(size, {.shift = shift, .stride = stride, .drop_remainder = drop})
              .batch();
        });
}

/// Vectors 1, 1, ...; 2, 2, ... of these lengths, with their numbers.
Dataset rows(const Sizes& lengths) {
  const auto factory = [lengths]() {
    return [lengths, i = size_t(0)]() mutable -> std::optional<Batch> {
      if (i == lengths.size()) return {};
      Batch element{dist::fill({lengths[i]}, float(i + 1)), Tensor(int64_t(i))};
      ++i;
      return element;
    };
  };
  return Dataset::from_generator(factory, {{{-1}, DType::Float32}, {{}, DType::Int64}});
}

void padding_cases() {
  const Dataset five = rows({1, 3, 2, 5, 4});
  for (const bool drop : {false, true}) {
    of_data("padded_batch" + text(drop),
            [&] { return five.padded_batch(2, {.drop_remainder = drop}); });
    of_data("padded_batch to 6" + text(drop), [&] {
      return five.padded_batch(2, {.padded_shapes = {{6}, {}}, .drop_remainder = drop});
    });
  }
  of_data("padded_batch to 4", [&] { return five.padded_batch(2, {.padded_shapes = {{4}, {}}}); });
  of_data("padded_batch values", [&] {
    return five.padded_batch(3, {.padding_values = {Tensor(-1.0f), Tensor(int64_t(9))}});
  });
  of_data("padded_batch of matrices", [] {
    const auto factory = [] {
      return [i = int32_t(0)]() mutable -> std::optional<Batch> {
        if (++i > 3) return {};
        return Batch{dist::fill({i, 3 - i}, float(i), DType::Int32)};
      };
    };
    return Dataset::from_generator(factory, {{{-1, -1}, DType::Int32}})
        .padded_batch(3, {.padding_values = {Tensor(int32_t(7))}});
  });
}

int64_t length(const Batch& element) { return element.x.shape()[0]; }

void bucket_cases() {
  const Dataset many = rows({1, 3, 2, 5, 4, 1, 1, 6, 2, 3});
  const std::vector<std::pair<Sizes, Sizes>> all{
      {{3}, {2, 2}},  {{2, 4}, {3, 2, 1}}, {{2, 4}, {1, 1, 1}},
      {{10}, {4, 4}}, {{4, 2}, {1, 1, 1}}, {{2, 4}, {1, 1}},
      {{}, {3}}};
  for (const auto& [boundaries, sizes] : all)
    for (const bool drop : {false, true})
      of_data("bucket " + list(boundaries) + " " + list(sizes) + text(drop),
              [&, b = boundaries, s = sizes] {
                return many.bucket_by_sequence_length(length, b, s, {.drop_remainder = drop});
              });
  const auto bucket = [&](const std::string& name, const Sizes& boundaries, const Sizes& sizes,
                          const dist::data::BucketOptions& options) {
    of_data("bucket " + name,
            [&] { return many.bucket_by_sequence_length(length, boundaries, sizes, options); });
  };
  bucket("to boundary", {3, 8}, {2, 2, 2}, {.pad_to_bucket_boundary = true});
  bucket("to boundary, too long", {3, 5}, {2, 2, 2}, {.pad_to_bucket_boundary = true});
  bucket("no padding", {2, 3, 4, 5, 6}, Sizes(6, 2), {.no_padding = true});
  bucket("no padding, unequal", {3}, {2, 2}, {.no_padding = true});
  bucket("values", {3}, {2, 2},
         {.padded_shapes = {{-1}, {}}, .padding_values = {Tensor(-1.0f), Tensor(int64_t(0))}});
}

void choosing_cases() {
  const std::vector<Dataset> parts{Dataset::range(3), Dataset::range(10, 12),
                                   Dataset::range(20, 20)};
  for (const Sizes& choices :
       std::vector<Sizes>{{0, 1, 0, 1}, {0, 1, 1, 1, 0}, {1, 2, 0}, {0, 0, 0, 0, 1}, {3}, {-1}, {}})
    for (const bool stop : {false, true})
      of_data("choose " + list(choices) + text(stop), [&] {
        return Dataset::choose_from_datasets(parts, Dataset::from_tensor_slices(longs(choices)),
                                             stop);
      });
  const std::vector<std::pair<std::string, std::vector<double>>> all{
      {"[1.0, 0.0, 0.0]", {1, 0, 0}},
      {"[0.0, 1.0, 0.0]", {0, 1, 0}},
      {"[0.0, 0.0, 1.0]", {0, 0, 1}}};
  for (const auto& [shown, weights] : all)
    for (const bool stop : {false, true})
      of_data("sample " + shown + text(stop), [&, w = weights] {
        return Dataset::sample_from_datasets(
            parts, {.weights = w, .seed = 1, .stop_on_empty_dataset = stop});
      });
}

void source_cases() {
  of_data("reduce", [] {
    return Dataset::from_tensors(ten().reduce(
        Tensor(int64_t(5)), [](Tensor s, const Batch& e) { return s * int64_t(2) + e.x; }));
  });
  of_data("reduce of nothing", [] {
    return Dataset::from_tensors(Dataset::range(0).reduce(
        Tensor(int64_t(5)), [](Tensor s, const Batch& e) { return s + e.x; }));
  });
  of_data("cache and repeat", [] { return Dataset::range(3).cache().repeat(2); });
  of_data("take behind repeat", [] { return Dataset::range(3).repeat().take(7); });
  of_data("slices of unequal rows", [] {
    return Dataset::from_tensor_slices(vec({1, 2}), vec({1, 2, 3}));
  });
  of_data("slices of a number", [] { return Dataset::from_tensor_slices(Tensor(1.0f)); });
  of_data("slices", [] {
    return Dataset::from_tensor_slices(matrix({2, 2}, {1, 2, 3, 4}), ints({5, 6}));
  });
}

void cardinality_cases() {
  const auto more = [](const Batch& e) { return number(e) > 2; };
  const std::vector<std::pair<std::string, std::function<int64_t()>>> all{
      {"range", [] { return ten().cardinality(); }},
      {"batch", [] { return ten().batch(3).cardinality(); }},
      {"dropped", [] { return ten().batch(3, true).cardinality(); }},
      {"repeat", [] { return ten().repeat(2).cardinality(); }},
      {"endless", [] { return ten().repeat().cardinality(); }},
      {"filter", [&] { return ten().filter(more).cardinality(); }},
      {"take", [] { return ten().repeat().take(4).cardinality(); }},
      {"skip", [] { return ten().skip(12).cardinality(); }},
      {"shard", [] { return ten().shard(3, 1).cardinality(); }},
      {"zip",
       [] {
         return Dataset::zip({ten(), ten().repeat()}).cardinality();
       }},
      {"concatenate", [] { return ten().concatenate(ten()).cardinality(); }},
      {"flat_map", [] { return ten().flat_map(part).cardinality(); }},
      {"nothing repeated", [] { return Dataset::range(0).repeat().cardinality(); }},
      {"unbatch", [] { return ten().batch(3).unbatch().cardinality(); }},
      {"window", [] { return ten().window(3, {.drop_remainder = true}).cardinality(); }},
      {"enumerate", [] { return ten().enumerate().cardinality(); }},
      {"shuffle", [] { return ten().shuffle(3).cardinality(); }},
      {"repeat 0", [] { return ten().repeat().repeat(0).cardinality(); }}};
  for (const auto& [name, count] : all)
    print_case("pipelines/cardinality of " + name,
               [&, c = count] { return numbers(Tensors{Tensor(c())}); });
}

}  // namespace

void pipeline_cases() {
  size_cases();
  joining_cases();
  interleave_cases();
  window_cases_of_data();
  padding_cases();
  bucket_cases();
  choosing_cases();
  source_cases();
  cardinality_cases();
}

}  // namespace comparison
