#include "cases.hpp"
#include "weight_values.hpp"

#include <distribute/nn/activation.hpp>
#include <distribute/nn/attention.hpp>
#include <distribute/nn/confusion_metrics.hpp>
#include <distribute/nn/convolution.hpp>
#include <distribute/nn/dense.hpp>
#include <distribute/nn/dropout.hpp>
#include <distribute/nn/embedding.hpp>
#include <distribute/nn/mean_metrics.hpp>
#include <distribute/nn/merging.hpp>
#include <distribute/nn/models.hpp>
#include <distribute/nn/normalization.hpp>
#include <distribute/nn/pooling.hpp>
#include <distribute/nn/recurrent.hpp>
#include <distribute/nn/reshaping.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>

namespace comparison {

namespace {

Tensor mask_of(const Tensor& x) {
  const Tensor mask = nn::get_keras_mask(x);
  return mask ? dist::cast(mask, dist::DType::Float32) : mask;
}

Tensor masked(const Tensor& x) { return nn::Masking()(x); }
Tensor wide() { return masked(f32({2, 3, 2}, kWide)); }

template <typename Layer>
void merging_case(const char* name, Layer layer) {
  const std::vector<std::pair<const char*, std::pair<bool, bool>>> masks{
      {"both", {true, true}}, {"the first", {true, false}}, {"the second", {false, true}}};
  for (const auto& [text, has] : masks)
    run_case(dist::str_cat("masks/", name, ", ", text), [&, has = has] {
      const Tensor a = f32({2, 3, 1}, kStepsA), b = f32({2, 3, 1}, kStepsB);
      const Tensor result = layer({has.first ? masked(a) : a, has.second ? masked(b) : b});
      return std::vector<Tensor>{result, mask_of(result)};
    });
}

void merging_cases() {
  merging_case("Add", nn::Add());
  merging_case("Subtract", nn::Subtract());
  merging_case("Multiply", nn::Multiply());
  merging_case("Average", nn::Average());
  merging_case("Maximum", nn::Maximum());
  merging_case("Minimum", nn::Minimum());
  merging_case("Concatenate", nn::Concatenate());
  merging_case("Concatenate 1", nn::Concatenate({.axis = 1}));
  merging_case("Dot", nn::Dot({.axes = {2, 2}}));
}

class Doubled : public nn::Module {
  Tensor call(const Tensor& x, nn::CallOptions) override { return x * 2.0f; }
};

class Embedded : public nn::Module {
  Tensor call(const Tensor& x, nn::CallOptions) override { return dense_(embedding_(x)); }
  nn::Embedding& embedding_ =
      add("embedding", nn::Embedding({.input_dim = 5, .output_dim = 1, .mask_zero = true}));
  nn::Dense& dense_ = add("dense", nn::Dense({.units = 1}));
};

template <typename Layer>
void layer_case(const char* name, Layer layer) {
  run_case(dist::str_cat("masks/of ", name), [&] { return mask_of(layer(wide())); });
}

void layer_cases() {
  layer_case("Dense", nn::Dense({.units = 1}));
  layer_case("Activation", nn::Activation(dist::nn::relu));
  layer_case("ReLU", nn::ReLU());
  layer_case("LeakyReLU", nn::LeakyReLU());
  layer_case("PReLU", nn::PReLU());
  layer_case("Dropout", nn::Dropout(0.5));
  layer_case("SpatialDropout1D", nn::SpatialDropout1D(0.5));
  layer_case("GaussianNoise", nn::GaussianNoise(0.1));
  layer_case("BatchNormalization", nn::BatchNormalization());
  layer_case("LayerNormalization", nn::LayerNormalization());
  layer_case("GroupNormalization", nn::GroupNormalization({.groups = 1}));
  layer_case("RMSNormalization", nn::RMSNormalization());
  layer_case("Lambda", nn::Lambda([](const Tensor& x) { return x * 2.0f; }));
  layer_case("identity", nn::Lambda([](const Tensor& x) { return x; }));
  layer_case("a layer of one's own", Doubled());
  layer_case("Flatten", nn::Flatten());
  layer_case("Reshape", nn::Reshape({3, 2}));
  layer_case("Permute", nn::Permute({1, 2}));
  layer_case("Conv1D", nn::Conv1D({.filters = 1, .kernel_size = 1}));
  layer_case("GlobalAveragePooling1D", nn::GlobalAveragePooling1D({}));
  layer_case("GlobalMaxPooling1D", nn::GlobalMaxPooling1D({}));
  layer_case("LSTM", nn::LSTM({.units = 2}));
  layer_case("LSTM, sequences", nn::LSTM({.units = 2, .return_sequences = true}));
  layer_case("LSTM, backwards",
             nn::LSTM({.units = 2, .return_sequences = true, .go_backwards = true}));
  layer_case("Bidirectional", nn::Bidirectional(nn::LSTM({.units = 2})));
  layer_case("Bidirectional, sequences",
             nn::Bidirectional(nn::GRU({.units = 2, .return_sequences = true})));
  run_case("masks/of layers within a layer", [] {
    return mask_of(Embedded()(Tensor({1, 3}, std::vector<int32_t>{1, 0, 2})));
  });
}

void attention_cases() {
  const nn::MultiHeadAttentionOptions options{.num_heads = 1, .key_dim = 2};
  const Tensor plain = f32({2, 1, 2}, {1, 2, 3, 4});
  run_case("masks/of attention of the query",
           [&] { return mask_of(nn::MultiHeadAttention(options)(wide(), plain)); });
  run_case("masks/of attention of the value",
           [&] { return mask_of(nn::MultiHeadAttention(options)(plain, wide())); });
  run_case("masks/attention takes them", [&] {
    const Tensor x = wide(), seen = nn::MultiHeadAttention(options)(x, x);
    return std::vector<Tensor>{mask_of(x), mask_of(seen), mask_of(nn::Add()({x, seen}))};
  });
  run_case("masks/batch normalization", [] {
    nn::BatchNormalization layer({.momentum = 0.5});
    const Tensor y = layer(wide(), {.training = true});
    return std::vector<Tensor>{y, layer.moving_mean().value(), layer.moving_variance().value()};
  });
}

template <typename Metric>
void masked_metric(const char* name, nn::Module& model) {
  for (const auto& [text, weight] : weights())
    updated<Metric>(dist::str_cat("masks/metric ", name, ", ", text),
                    {{f32({2, 3, 1}, kTargets), model(f32({2, 3, 1}, kSteps)), weight}});
}

void masked_object_cases() {
  nn::Sequential model(
      nn::Masking(),
      nn::Dense({.units = 1, .use_bias = false, .kernel_initializer = nn::initializers::ones()}));
  const auto prediction = [&] { return model(f32({2, 3, 1}, kSteps)); };
  for (const auto& [name, reduction] : reductions())
    for (const auto& [text, weight] : weights())
      run_case(dist::str_cat("masks/", name, ", ", text), [&, reduction = reduction,
                                                           weight = weight] {
        return nn::MeanSquaredError({reduction})(f32({2, 3, 1}, kTargets), prediction(), weight);
      });
  masked_metric<nn::metrics::MeanSquaredError>("MeanSquaredError", model);
  masked_metric<nn::metrics::RootMeanSquaredError>("RootMeanSquaredError", model);
  masked_metric<nn::metrics::MeanAbsoluteError>("MeanAbsoluteError", model);
  masked_metric<nn::metrics::BinaryAccuracy>("BinaryAccuracy", model);
  masked_metric<nn::metrics::Precision>("Precision", model);
  masked_metric<nn::metrics::CosineSimilarity>("CosineSimilarity", model);
  updated<nn::metrics::Mean>("masks/metric Mean, no weights", {{prediction()}});
  updated<nn::metrics::Mean>("masks/metric Mean, [2,1]", {{prediction(), f32({2, 1}, kRow)}});
}

}  // namespace

void mask_cases() {
  merging_cases();
  layer_cases();
  attention_cases();
  masked_object_cases();
}

}  // namespace comparison
