/// Which numbers of axes a layer takes, as rank_cases.py prints it.
#include "layer_cases.hpp"

#include <distribute/nn/activation.hpp>
#include <distribute/nn/attention.hpp>
#include <distribute/nn/attention_layers.hpp>
#include <distribute/nn/convolution.hpp>
#include <distribute/nn/convolution_1d_3d.hpp>
#include <distribute/nn/dense.hpp>
#include <distribute/nn/dropout.hpp>
#include <distribute/nn/embedding.hpp>
#include <distribute/nn/normalization.hpp>
#include <distribute/nn/pooling.hpp>
#include <distribute/nn/recurrent.hpp>
#include <distribute/nn/recurrent_cells.hpp>
#include <distribute/nn/reshaping.hpp>

namespace comparison {

namespace {

/// The shape of what `call` gives for ones of this shape.
std::string answer(const Shape& shape, dist::DType dtype,
                   const std::function<Tensor(const Tensor&)>& call) {
  try {
    std::string text;
    for (const int64_t size : call(dist::fill(shape, 1.0, dtype)).shape())
      text += str_cat("[", size, "]");
    return text;
  } catch (const dist::Error&) {
    return "refused";
  }
}

template <typename Make, typename Call>
void axes_of(const std::string& name, Make make, Call call,
             dist::DType dtype = dist::DType::Float32) {
  run_case("layers/axes of " + name, [&] {
    std::string line;
    for (const Shape& shape :
         {Shape{3}, {3, 4}, {3, 4, 4}, {3, 4, 4, 4}, {3, 4, 4, 4, 4}, {3, 4, 4, 4, 4, 4}})
      line += str_cat(line.empty() ? "" : " ", answer(shape, dtype, [&](const Tensor& x) {
                        auto layer = make();
                        return call(layer, x);
                      }));
    return line;
  });
}

template <typename Make>
void axes(const std::string& name, Make make) {
  axes_of(name, make, [](auto& layer, const Tensor& x) { return layer(x); });
}

void simple_layers() {
  axes("dense", [] { return nn::Dense({.units = 2}); });
  axes("einsum dense",
       [] { return nn::EinsumDense({.equation = "...x,xy->...y", .output_shape = {2}}); });
  axes_of(
      "embedding", [] { return nn::Embedding({.input_dim = 8, .output_dim = 2}); },
      [](auto& layer, const Tensor& x) { return layer(x); }, dist::DType::Int32);
  axes("activation", [] { return nn::Activation("relu"); });
  axes("softmax", [] { return nn::Softmax(); });
  axes("prelu", [] { return nn::PReLU(); });
  axes("relu", [] { return nn::ReLU(); });
  axes("leaky relu", [] { return nn::LeakyReLU(); });
  axes("elu", [] { return nn::ELU(); });
  axes("identity", [] { return nn::Identity(); });
  axes("batch norm", [] { return nn::BatchNormalization(); });
  axes("layer norm", [] { return nn::LayerNormalization(); });
  axes("group norm", [] { return nn::GroupNormalization({.groups = 1}); });
  axes("unit norm", [] { return nn::UnitNormalization(); });
  axes("rms norm", [] { return nn::RMSNormalization(); });
  axes("dropout", [] { return nn::Dropout({.rate = 0.5}); });
  axes("gaussian noise", [] { return nn::GaussianNoise({.stddev = 0.5}); });
  axes("gaussian dropout", [] { return nn::GaussianDropout({.rate = 0.5}); });
  axes("alpha dropout", [] { return nn::AlphaDropout({.rate = 0.5}); });
  axes("spatial dropout 1d", [] { return nn::SpatialDropout1D({.rate = 0.5}); });
  axes("spatial dropout 2d", [] { return nn::SpatialDropout2D({.rate = 0.5}); });
  axes("spatial dropout 3d", [] { return nn::SpatialDropout3D({.rate = 0.5}); });
  axes("flatten", [] { return nn::Flatten(); });
  axes("reshape", [] { return nn::Reshape({-1}); });
  axes("permute", [] { return nn::Permute({2, 1}); });
  axes("repeat vector", [] { return nn::RepeatVector(2); });
  axes("masking", [] { return nn::Masking(); });
}

void layers_of_steps() {
  axes("lstm", [] { return nn::LSTM({.units = 2}); });
  axes("gru", [] { return nn::GRU({.units = 2}); });
  axes("simple rnn", [] { return nn::SimpleRNN({.units = 2}); });
  axes("rnn", [] { return nn::RNN(nn::LSTMCell({.units = 2})); });
  axes("bidirectional", [] { return nn::Bidirectional(nn::LSTM({.units = 2})); });
  axes("time distributed", [] { return nn::TimeDistributed(nn::Dense({.units = 2})); });
  axes("spectral", [] { return nn::SpectralNormalization(nn::Dense({.units = 2})); });
  axes_of(
      "heads", [] { return nn::MultiHeadAttention({.num_heads = 2, .key_dim = 2}); },
      [](auto& layer, const Tensor& x) { return layer(x, x); });
  axes_of(
      "attention", [] { return nn::Attention(); },
      [](auto& layer, const Tensor& x) {
        return layer({x, x});
      });
  axes_of(
      "additive attention", [] { return nn::AdditiveAttention(); },
      [](auto& layer, const Tensor& x) {
        return layer({x, x});
      });
}

void layers_of_lines() {
  axes("conv 1d", [] { return nn::Conv1D({.filters = 2, .kernel_size = 1}); });
  axes("conv transpose 1d", [] { return nn::Conv1DTranspose({.filters = 2, .kernel_size = 1}); });
  axes("conv lstm 1d", [] { return nn::ConvLSTM1D({.filters = 2, .kernel_size = 1}); });
  axes("max pooling 1d", [] { return nn::MaxPooling1D({.pool_size = 1}); });
  axes("average pooling 1d", [] { return nn::AveragePooling1D({.pool_size = 1}); });
  axes("global max 1d", [] { return nn::GlobalMaxPooling1D(); });
  axes("global average 1d", [] { return nn::GlobalAveragePooling1D(); });
  axes("zero padding 1d", [] { return nn::ZeroPadding1D(1); });
  axes("cropping 1d", [] { return nn::Cropping1D(1); });
  axes("up sampling 1d", [] { return nn::UpSampling1D(2); });
  axes("separable 1d", [] { return nn::SeparableConv1D({.filters = 2, .kernel_size = 1}); });
  axes("depthwise 1d", [] { return nn::DepthwiseConv1D({.kernel_size = 1}); });
}

void layers_of_pictures() {
  axes("conv 2d", [] { return nn::Conv2D({.filters = 2, .kernel_size = 1}); });
  axes("conv transpose 2d", [] { return nn::Conv2DTranspose({.filters = 2, .kernel_size = 1}); });
  axes("conv lstm 2d", [] { return nn::ConvLSTM2D({.filters = 2, .kernel_size = 1}); });
  axes("max pooling 2d", [] { return nn::MaxPool2D({.pool_size = 1}); });
  axes("average pooling 2d", [] { return nn::AveragePooling2D({.pool_size = 1}); });
  axes("global max 2d", [] { return nn::GlobalMaxPooling2D(); });
  axes("global average 2d", [] { return nn::GlobalAveragePooling2D(); });
  axes("zero padding 2d", [] { return nn::ZeroPadding2D(1); });
  axes("cropping 2d", [] { return nn::Cropping2D(1); });
  axes("up sampling 2d", [] { return nn::UpSampling2D(2); });
  axes("separable 2d", [] { return nn::SeparableConv2D({.filters = 2, .kernel_size = 1}); });
  axes("depthwise 2d", [] { return nn::DepthwiseConv2D({.kernel_size = 1}); });
}

void layers_of_volumes() {
  axes("conv 3d", [] { return nn::Conv3D({.filters = 2, .kernel_size = 1}); });
  axes("conv transpose 3d", [] { return nn::Conv3DTranspose({.filters = 2, .kernel_size = 1}); });
  axes("conv lstm 3d", [] { return nn::ConvLSTM3D({.filters = 2, .kernel_size = 1}); });
  axes("max pooling 3d", [] { return nn::MaxPooling3D({.pool_size = 1}); });
  axes("average pooling 3d", [] { return nn::AveragePooling3D({.pool_size = 1}); });
  axes("global max 3d", [] { return nn::GlobalMaxPooling3D(); });
  axes("global average 3d", [] { return nn::GlobalAveragePooling3D(); });
  axes("zero padding 3d", [] { return nn::ZeroPadding3D(1); });
  axes("cropping 3d", [] { return nn::Cropping3D(1); });
  axes("up sampling 3d", [] { return nn::UpSampling3D(2); });
}

}  // namespace

void rank_cases() {
  simple_layers();
  layers_of_steps();
  layers_of_lines();
  layers_of_pictures();
  layers_of_volumes();
}

}  // namespace comparison
