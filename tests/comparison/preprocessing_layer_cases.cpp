/// Layers that prepare numbers and categories, as layer_cases.py prints them.
#include "layer_cases.hpp"

#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/preprocessing/categories.hpp>
#include <distribute/preprocessing/normalization.hpp>
#include <distribute/preprocessing/random_images.hpp>
#include <distribute/preprocessing/text_vectorization.hpp>

#include <cmath>

namespace comparison {

namespace {

namespace pre = dist::preprocessing;
using pre::OutputMode;
using Floats = std::vector<float>;

Tensor rows_of(const Tensor& x, int64_t count) { return x.rows(0, count); }

void normalization_layer_cases() {
  struct Given {
    std::string name;
    std::vector<int64_t> axis;
    Tensor mean;
  };
  const std::vector<Given> all{{"-1 of [1, 2, 3]", {-1}, Tensor{1.0f, 2.0f, 3.0f}},
                               {"-1 of 2", {-1}, 2.0f},
                               {"None of 2", {}, 2.0f},
                               {"1 of [1, 2, 3, 4, 5]", {1}, Tensor{1.0f, 2.0f, 3.0f, 4.0f, 5.0f}},
                               {"(1, 2) of 2", {1, 2}, 2.0f},
                               {"2 of [3, 2, 1]", {2}, Tensor{3.0f, 2.0f, 1.0f}}};
  for (const Given& given : all)
    for (const bool invert : {false, true})
      check("normalization axis " + given.name + ", " + text(invert),
            [&] {
              return pre::Normalization({.axis = given.axis,
                                         .mean = given.mean,
                                         .variance = given.mean * 2.0f,
                                         .invert = invert});
            },
            {steps()}, {.masks = {gaps()}});
  const Tensor data = uniform(steps(), 4) * 3.0f + 1.0f;
  const std::vector<std::pair<std::string, std::vector<int64_t>>> axes{
      {"-1", {-1}}, {"None", {}}, {"1", {1}}, {"(1, 2)", {1, 2}}, {"(0, 2)", {0, 2}}, {"0", {0}}};
  for (const auto& [name, axis] : axes)
    for (const bool invert : {false, true})
      run_case("layers/normalization adapted along " + name + ", " + text(invert),
               [&, &axis = axis] {
                 pre::Normalization layer({.axis = axis, .invert = invert});
                 layer.adapt(data);
                 return sums("out", layer(uniform(steps(), 500)));
               });
  check("normalization variance 0",
        [] { return pre::Normalization({.mean = 1.0f, .variance = 0.0f}); }, {steps()});
  check("normalization without variance", [] { return pre::Normalization({.mean = 1.0f}); },
        {steps()});
  check("normalization of other axes",
        [] { return pre::Normalization({.axis = {3}, .mean = 1.0f, .variance = 1.0f}); },
        {steps()});
}

const std::vector<std::pair<std::string, OutputMode>> modes{{"int", OutputMode::Int},
                                                            {"one_hot", OutputMode::OneHot},
                                                            {"multi_hot", OutputMode::MultiHot},
                                                            {"count", OutputMode::Count}};

/// The first column, for one_hot.
Tensor column(const Tensor& x) {
  const Tensor wide = cast(x, dist::DType::Int64);
  const auto values = wide.data<int64_t>();
  const int64_t width = x.shape()[1];
  return cast(Tensor({2, 1}, std::vector<int64_t>{values[0], values[size_t(width)]}), x.dtype());
}

void encoding_cases() {
  const std::vector<std::pair<std::string, Tensor>> inputs{
      {"[5]", reshape(rows_of(ids(), 1), {5})},
      {"[2, 5]", ids()},
      {"[2, 1]", column(ids())},
      {"[1, 2, 1]", reshape(column(ids()), {1, 2, 1})},
      {"none", Tensor(int32_t{2})}};
  for (const auto& [name, mode] : modes) {
    if (mode == OutputMode::Int) continue;
    for (const auto& [input_name, input] : inputs)
      run_case(str_cat("layers/encoding ", name, " ", input_name),
               [&, mode = mode, &input = input] {
                 return pre::CategoryEncoding({.num_tokens = 4, .output_mode = mode})(input);
               });
  }
  run_case("layers/encoding count weights", [] {
    return pre::CategoryEncoding({.num_tokens = 4, .output_mode = OutputMode::Count})(
        ids(), uniform({2, 5}, 1));
  });
  run_case("layers/encoding too large",
           [] { return pre::CategoryEncoding({.num_tokens = 3})(ids()); });
  run_case("layers/encoding negative",
           [] { return pre::CategoryEncoding({.num_tokens = 3})(ids(-1)); });
}

void discretization_cases() {
  const Tensor row = Tensor(Shape{4}, Floats{-1, -0.5f, 0.2f, 0.5f});
  const Tensor values({2, 4}, Floats{-1, -0.5f, 0.2f, 0.5f, 0.7f, 0, 9, 0.49f});
  const Tensor first({2, 1}, Floats{-1, 0.7f});
  for (const auto& [name, mode] : modes) {
    const pre::Discretization layer({.bin_boundaries = {-0.5f, 0, 0.5f}, .output_mode = mode});
    run_case("layers/discretization " + name,
             [&, mode = mode] { return layer(mode == OutputMode::OneHot ? first : values); });
    run_case("layers/discretization " + name + " of one axis", [&] { return layer(row); });
  }
  run_case("layers/discretization of integers", [] {
    return pre::Discretization({.bin_boundaries = {0.5f, 2}})(ids());
  });
  run_case("layers/discretization not a number", [] {
    return pre::Discretization({.bin_boundaries = {0.5f, 2}})(Tensor{std::nanf(""), INFINITY});
  });
  for (const auto& [name, bins, epsilon] :
       {std::tuple{"2 0.01", 2, 0.01}, std::tuple{"5 0.01", 5, 0.01}, std::tuple{"5 0.1", 5, 0.1}})
    run_case(str_cat("layers/discretization adapted ", name), [&, bins = bins, epsilon = epsilon] {
      pre::Discretization layer({.num_bins = bins, .epsilon = epsilon});
      layer.adapt(uniform({200}, 9));
      return layer(uniform({2, 8}, 3));
    });
}

template <typename Key>
struct Lookup {
  using Layer = pre::IndexLookup<Key>;
  using Options = pre::LookupOptions<Key>;
  std::string kind;
  std::vector<Key> vocabulary;
  Tensor inputs, first, known;
  Key mask;

  void run(const std::string& name, const Options& options, const Tensor& input) const {
    run_case("layers/" + kind + " lookup " + name, [&] { return Layer(options)(input); });
  }
  void run_grid() const {
    for (const auto& [name, mode] : modes)
      for (const int64_t oov : {1, 3})
        for (const bool masked : {false, true}) {
          Options options{.num_oov_indices = oov, .vocabulary = vocabulary, .output_mode = mode};
          if (masked) options.mask_token = mask;
          run(str_cat(name, ", ", oov, " unknown, mask ", text(masked)), options,
              mode == OutputMode::OneHot ? first : inputs);
        }
  }
  void run_all() const {
    run_grid();
    const Options none{.num_oov_indices = 0, .vocabulary = vocabulary};
    run("of none unknown", none, inputs);
    run("of none unknown, all known", none, known);
    run("tf_idf",
        {.vocabulary = vocabulary,
         .idf_weights = {0.5f, 1.5f, 2.5f},
         .output_mode = OutputMode::TfIdf},
        inputs);
    run("padded",
        {.max_tokens = 7,
         .vocabulary = vocabulary,
         .output_mode = OutputMode::Count,
         .pad_to_max_tokens = true},
        inputs);
    run("too many", {.max_tokens = 3, .vocabulary = vocabulary}, inputs);
    std::vector<Key> twice = vocabulary;
    twice.push_back(twice[0]);
    run("twice the same", {.vocabulary = twice}, inputs);
  }
};

std::string texts(const Tensor& result) {
  std::string line;
  for (const std::string& one_text : pre::strings_of(result))
    line += (line.empty() ? "" : " ") + (one_text.empty() ? std::string("-") : one_text);
  return line;
}

void inverted_cases() {
  const Tensor back({1, 5}, std::vector<int64_t>{1, 2, 0, 3, 9});
  const pre::StringLookupOptions words{.vocabulary = {"a", "b", "c"}, .invert = true};
  const pre::IntegerLookupOptions numbers{.vocabulary = {10, 20, 30}, .invert = true};
  pre::StringLookupOptions masked = words, other = words;
  masked.mask_token = "";
  other.oov_token = "?";
  pre::IntegerLookupOptions zero = numbers;
  zero.mask_token = 0;
  const auto text_case = [&](const std::string& name, const pre::StringLookupOptions& options) {
    run_case("layers/string lookup inverted" + name,
             [&] { return texts(pre::StringLookup(options)(back)); });
  };
  text_case("", words);
  text_case(", mask", masked);
  text_case(", token", other);
  run_case("layers/integer lookup inverted", [&] { return pre::IntegerLookup(numbers)(back); });
  run_case("layers/integer lookup inverted, mask", [&] { return pre::IntegerLookup(zero)(back); });
}

void learned_cases() {
  const Tensor words = pre::strings_tensor({"b", "a", "c", "b", "c", "d"});
  const auto learned = [](const std::string& name, auto layer, const Tensor& data) {
    run_case("layers/" + name, [&] {
      layer.adapt(data);
      std::string line;
      for (const auto& token : layer.get_vocabulary())
        line += str_cat(line.empty() ? "" : " ", token);
      return line;
    });
  };
  learned("string lookup learned", pre::StringLookup(), words);
  learned("string lookup learned, most", pre::StringLookup({.max_tokens = 3}), words);
  learned("integer lookup learned", pre::IntegerLookup(),
          Tensor(Shape{6}, std::vector<int64_t>{3, 1, 2, 3, 2, 5}));
  learned("integer lookup learned, mask", pre::IntegerLookup({.mask_token = 0}),
          Tensor(Shape{6}, std::vector<int64_t>{3, 1, 0, 3, 2, 5}));
}

template <typename Make>
void random_case(const std::string& name, Make make) {
  check("random " + name + ", not training", make, {image()});
  run_case("layers/random " + name + ", bytes, not training",
           [&] { return make()(cast(counts() * 10, dist::DType::UInt8)); });
}

}  // namespace

void preprocessing_cases() {
  random_case("flip", [] { return pre::RandomFlip(); });
  random_case("rotation", [] { return pre::RandomRotation(0.2); });
  random_case("zoom", [] { return pre::RandomZoom(0.2); });
  random_case("translation",
              [] { return pre::RandomTranslation({.height_factor = 0.2, .width_factor = 0.2}); });
  random_case("contrast", [] { return pre::RandomContrast({.factor = 0.2}); });
  normalization_layer_cases();
  encoding_cases();
  discretization_cases();
  Lookup<std::string>{"string",
                      {"a", "b", "c"},
                      pre::strings_tensor({"b", "zz", "a", "", "c", "qq"}, {2, 3}),
                      pre::strings_tensor({"b", ""}, {2, 1}),
                      pre::strings_tensor({"b"}, {1, 1}),
                      ""}
      .run_all();
  Lookup<int64_t>{"integer",
                  {10, 20, 30},
                  Tensor({2, 3}, std::vector<int64_t>{20, 7, 10, 0, 30, 8}),
                  Tensor({2, 1}, std::vector<int64_t>{20, 0}),
                  Tensor({1, 1}, std::vector<int64_t>{20}),
                  0}
      .run_all();
  inverted_cases();
  learned_cases();
}

}  // namespace comparison
