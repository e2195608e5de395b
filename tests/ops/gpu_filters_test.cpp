// Filters of 16-bit convolutions on cuDNN: one kernel turns and converts them, with the bits of a
// cast and a turn one after the other.
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/device/detail/cuda_backend.hpp>
#include <distribute/device/detail/cuda_graph.hpp>
#include <distribute/device/detail/device_state.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/convolution.hpp>
#include <distribute/ops/detail/summed_conv2d.hpp>
#include <distribute/ops/math.hpp>

#include "support/library_gpu.hpp"
#include "support/watching_tape.hpp"

using namespace distribute::testing;
using namespace distribute;
using Tensors = std::vector<Tensor>;

#if DISTRIBUTE_HAS_CUDNN

namespace {

constexpr DType kHalves[] = {DType::BFloat16, DType::Float16};
const Device kGpu{DeviceType::Gpu, 0};

/// Images, float32 filters and bias, and the result's gradient, on the GPU.
struct Step {
  explicit Step(DType dtype, int64_t channels = 8)
      : x(cast(contract_numbers({2, 6, 5, channels}), dtype).to(kGpu)),
        w(contract_numbers({3, 3, channels, 16}, 2, 0.3f).to(kGpu)),
        bias(contract_numbers({16}, 3).to(kGpu)),
        dy(cast(contract_numbers({2, 4, 3, 16}, 4), dtype).to(kGpu)) {}
  Tensor x, w, bias, dy;
};

using Convolution = std::function<Tensor(const Tensor& x, const Tensor& w)>;

/// y, dx and dw.
Tensors run(const Convolution& convolve, const Tensor& x, const Tensor& w, const Tensor& dy = {}) {
  WatchingTape tape({x, w});
  const Tensor y = convolve(x, w);
  GradientTape::Call call;
  if (dy) call.output_gradients = {dy};
  Tensors results = tape.gradient(Tensors{y}, Tensors{x, w}, call);
  results.insert(results.begin(), y);
  return results;
}

void check_same_bits(const Tensors& wanted, const Tensors& got) {
  REQUIRE(wanted.size() == got.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    INFO("result " << i);
    CHECK(wanted[i].dtype() == got[i].dtype());
    CHECK(wanted[i].to_vector() == got[i].to_vector());
  }
}

/// [rows, columns] turned round by the host.
Tensor turned(const Tensor& t, int64_t rows, int64_t columns, const Shape& shape) {
  const Tensor matrix = reshape(t.to(Device{}), {rows, columns});
  return reshape(transpose(matrix, {1, 0}), shape);
}

/// What cuDNN gives for filters that were cast, then turned, and whose gradient was turned, then
/// cast.
Tensors cast_and_turned(const Step& s) {
  const DType dtype = s.x.dtype();
  const int64_t channels = s.x.shape()[3], taps = 9 * channels;
  const Conv2DShape shape{dtype,  2,      channels, 16,     1,  {6, 5},
                          {4, 3}, {3, 3}, {1, 1},   {1, 1}, {}, {}};
  const Tensor w = turned(cast(s.w, dtype), taps, 16, {16, 3, 3, channels}).to(kGpu);
  const Array y = cudnn_conv2d(shape, s.x.array(), w.array(), nullptr, Epilogue::None);
  const Array dx = cudnn_conv2d_backprop_input(shape, s.dy.array(), w.array());
  const Array dw = cudnn_conv2d_backprop_filter(shape, s.x.array(), s.dy.array());
  const Tensor narrow(w.shape(), dtype, dw);
  return {Tensor(s.dy.shape(), dtype, y), Tensor(s.x.shape(), dtype, dx),
          turned(cast(narrow, DType::Float32), 16, taps, s.w.shape())};
}

Tensor plain(const Tensor& x, const Tensor& w) { return nn::conv2d(x, w); }

struct StatisticsOn {
  StatisticsOn() { device_state().cudnn_statistics = true; }
  ~StatisticsOn() { device_state().cudnn_statistics = false; }
};

}  // namespace

TEST_CASE("16-bit convolutions have the bits of filters that are cast, then turned",
          "[ops][gpu_convolution]") {
  LibraryGpu gpu;
  for (const DType dtype : kHalves)
    for (const int64_t channels : {8, 3}) {
      INFO(name_of(dtype) << ", channels " << channels);
      const Step s(dtype, channels);
      check_same_bits(cast_and_turned(s), run(plain, s.x, s.w, s.dy));
    }
}

TEST_CASE("filters are turned and cast by one launch each way", "[ops][fake_gpu]") {
  FakeCuda fake;
  const ScopedCudaBlas blas(FakeBlas::table());
  const cudnn_internal::ScopedCudnn dnn(FakeCudnn::table());
  for (const DType dtype : kHalves) {
    const Step s(dtype);
    fake.forget_calls();
    run(plain, s.x, s.w, s.dy);
    CHECK(fake.count("launch transpose_matrix") == 2);  // filters, and their gradient
    CHECK(fake.count("launch convert") == 0);
  }
}

TEST_CASE("a recorded 16-bit convolution has the bits of a plain one", "[ops][gpu_convolution]") {
  LibraryGpu gpu;
  for (const DType dtype : kHalves) {
    const Step s(dtype);
    const Tensors wanted = run(plain, s.x, s.w, s.dy);
    Tensors got;  // goes before the graph that its memory belongs to
    const auto graph = CudaGraph::capture(kGpu, [&] { got = run(plain, s.x, s.w, s.dy); });
    for (int launch = 0; launch < 2; ++launch) graph.launch();
    check_same_bits(wanted, got);
    got.clear();
  }
}

TEST_CASE("every 16-bit convolution rounds its filters as a cast does", "[ops][gpu_convolution]") {
  LibraryGpu gpu;
  const StatisticsOn on;
  for (const DType dtype : kHalves) {
    const Step s(dtype);
    const auto check = [&](const Convolution& convolve, const Tensor& w) {
      const Tensor rounded = cast(cast(w, dtype), DType::Float32);
      check_same_bits(run(convolve, s.x, rounded), run(convolve, s.x, w));
    };
    check([](auto& x, auto& w) { return distribute::ops_internal::conv2d_with_sums(x, w); }, s.w);
    check([&](auto& x, auto& w) { return nn::conv2d(x, w, {}, s.bias, Epilogue::Relu); }, s.w);
    check([](auto& x, auto& w) { return nn::depthwise_conv2d(x, w); },
          contract_numbers({3, 3, 8, 2}, 5).to(kGpu));
    check(
        [](auto& x, auto& w) {
          return nn::conv2d_transpose(x, w, {.strides = {2, 2}});
        },
        contract_numbers({3, 3, 4, 8}, 6).to(kGpu));
  }
}

TEST_CASE("filters in the images' type have their gradient in it", "[ops][gpu_convolution]") {
  LibraryGpu gpu;
  for (const DType dtype : kHalves) {
    const Step s(dtype);
    const auto relu = [&](const Tensor& x, const Tensor& w) {
      return nn::conv2d(x, w, {}, cast(s.bias, w.dtype()), Epilogue::Relu);
    };
    Tensors wanted = run(relu, s.x, s.w, s.dy);
    wanted[2] = cast(wanted[2], dtype);
    check_same_bits(wanted, run(relu, s.x, cast(s.w, dtype), s.dy));
  }
}

TEST_CASE("second derivatives of a 16-bit convolution agree with the CPU",
          "[ops][gpu_convolution]") {
  LibraryGpu gpu;
  for (const DType dtype : kHalves)
    check_contract("gradients of gradients",
                   [=](const Tensors& in) {
                     WatchingTape tape({in[0], in[1]});
                     const Tensor y = nn::conv2d(cast(in[0], dtype), in[1]);
                     return tape.gradient(Tensors{y * y}, Tensors{in[0], in[1]}, {});
                   },
                   {contract_numbers({2, 5, 5, 8}), contract_numbers({3, 3, 8, 4}, 2, 0.3f)},
                   {.tolerance = 3e-2f});
}

TEST_CASE("16-bit convolutions agree with the CPU where cuDNN is missing",
          "[ops][gpu_convolution]") {
  ContractGpu gpu;
  if (!gpu.fake()) return;
  const ScopedCudaBlas blas(FakeBlas::table());
  for (const DType dtype : kHalves)
    check_contract("conv2d by own kernels",
                   [=](const Tensors& in) {
                     const Tensor x = cast(in[0], dtype);
                     return Tensors{nn::conv2d(x, in[1], {}, in[2], Epilogue::Relu)};
                   },
                   {contract_numbers({2, 6, 6, 3}), contract_numbers({3, 3, 3, 8}, 2, 0.3f),
                    contract_numbers({8}, 3)},
                   {.tolerance = 2e-2f});
}

#endif
