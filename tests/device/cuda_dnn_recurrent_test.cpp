// Recurrent layers of the real cuDNN, as far as it goes without a GPU: its descriptors take our
// layers, and the weights of every gate lie where ours are copied to.
#include <distribute/base/error.hpp>
#include <distribute/device/detail/cuda_dnn_operations.hpp>
#include <distribute/device/detail/cuda_dnn_recurrent.hpp>

#include "../support/catch.hpp"

using namespace distribute;

TEST_CASE("recurrent layers need cuDNN", "[device][cuda_dnn_recurrent]") {
  if (cudnn_problem().empty()) return;
  CHECK_THROWS_AS(cudnn_recurrent({}, {}, true), UnavailableError);
  CHECK_THROWS_AS(cudnn_recurrent_backward({}, {}, {}, {}, {}, {}, nullptr), UnavailableError);
}

TEST_CASE("weights of cuDNN are all gates' weights, once each", "[device][cuda_dnn_recurrent]") {
  for (const CudnnCell cell : {CudnnCell::Simple, CudnnCell::Lstm, CudnnCell::Gru}) {
    const CudnnRecurrentShape shape{cell, DType::Float32, 1, 1, 3, 2, true, {}};
    const CudnnWeights weights(shape);
    std::set<int64_t> taken;
    const auto take = [&](int64_t first, int64_t count) {
      for (int64_t i = 0; i < count; ++i) CHECK(taken.insert(first + i).second);
    };
    std::set<int64_t> keras;
    for (const CudnnGates& g : cudnn_gates(cell))
      for (int64_t i = 0; i < g.count; ++i) {
        CHECK(keras.insert(g.keras + i).second);
        take(weights.kernel(g.cudnn + i), 2 * 3);
        take(weights.recurrent(g.cudnn + i), 2 * 2);
        take(weights.bias(g.cudnn + i), 2);
        if (cell == CudnnCell::Gru) take(weights.recurrent_bias(g.cudnn + i), 2);
      }
    CHECK(int64_t(keras.size()) == shape.gates());
    CHECK(int64_t(taken.size()) == weights.count);
    CHECK(*taken.rbegin() == weights.count - 1);
  }
}

#if DISTRIBUTE_HAS_CUDNN && defined(DISTRIBUTE_CUDA_TOOLKIT_LIBRARIES)
#include <distribute/device/detail/cuda_dnn_rnn.hpp>

namespace {

using namespace distribute::cudnn_internal;

/// cuDNN makes no handle without a GPU. What is called here asks only that there is one.
struct HandleOfZeros {
  cudnnHandle_t native() { return reinterpret_cast<cudnnHandle_t>(memory.data()); }
  std::vector<uint64_t> memory = std::vector<uint64_t>(1 << 17);
};

bool missing() {
  const std::string problem = cudnn_problem();
  if (!problem.empty()) WARN("skipped: " << problem);
  return !problem.empty();
}

}  // namespace

TEST_CASE("cuDNN has the weights of recurrent layers where they are copied to",
          "[device][cuda_dnn_recurrent]") {
  if (missing()) return;
  HandleOfZeros handle;
  for (const CudnnCell cell : {CudnnCell::Simple, CudnnCell::Lstm, CudnnCell::Gru})
    for (const DType dtype : {DType::Float32, DType::BFloat16, DType::Float16})
      for (const bool with_bias : {false, true})
        for (const auto& [inputs, units] :
             {std::pair<int64_t, int64_t>{5, 7}, {256, 256}, {1, 3}}) {
          INFO("cell " << int(cell) << ", " << name_of(dtype) << ", bias " << with_bias << ", "
                       << inputs << " inputs, " << units << " units");
          const CudnnRecurrentShape shape{cell, dtype, 4, 9, inputs, units, with_bias, {}};
          const RnnDescriptors descriptors(shape, handle.native());
          CHECK_NOTHROW(check_cudnn_weights(shape, handle.native(), descriptors));
          CudnnRecurrentShape other = shape;
          other.inputs += 1;
          CHECK_THROWS_AS(check_cudnn_weights(other, handle.native(), descriptors),
                          UnimplementedError);
        }
}

TEST_CASE("cuDNN takes lengths of sequences up to the number of steps",
          "[device][cuda_dnn_recurrent]") {
  if (missing()) return;
  HandleOfZeros handle;
  CudnnRecurrentShape shape{CudnnCell::Lstm, DType::Float32, 3, 4, 5, 6, true, {4, 2, 1}};
  CHECK_NOTHROW(RnnDescriptors(shape, handle.native()));
  shape.lengths = {4, 2, 5};
  CHECK_THROWS_AS(RnnDescriptors(shape, handle.native()), InvalidArgumentError);
}

#endif
