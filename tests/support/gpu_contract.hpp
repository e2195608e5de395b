#pragma once
/// One contract for both devices: an operation gives the same values and gradients on a GPU (the
/// fake one, or a real one in scripts/gpu_check.sh) as on the CPU.

#include "catch.hpp"
#include "fake_cuda.hpp"

#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/base/error.hpp>
#include <distribute/device/detail/cuda_device.hpp>
#include <distribute/device/placement.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/tensor/tensor.hpp>

namespace distribute::testing {

/// Whether contract tests run on a real GPU.
inline bool tests_real_gpu() {
  const char* real = std::getenv("DISTRIBUTE_TEST_GPU");
  return real && std::string(real) == "1";
}

/// Logical GPUs that a real GPU is divided into, once: one in use cannot be divided any more. The
/// test that wants most takes this many.
inline constexpr int kRealLogicalGpus = 6;

/// A real GPU with DISTRIBUTE_TEST_GPU=1, else the fake. Products are those of float32:
/// TensorFloat-32 has three digits.
class ContractGpu {
 public:
  ContractGpu() {
    config::experimental::enable_tensor_float_32_execution(false);
    if (!tests_real_gpu()) {
      fake_ = std::make_unique<FakeCuda>();
      return;
    }
    [[maybe_unused]] static const bool divided = [] {
      divide(kRealLogicalGpus);
      return true;
    }();
  }
  ~ContractGpu() { config::experimental::enable_tensor_float_32_execution(true); }
  ContractGpu(const ContractGpu&) = delete;
  ContractGpu& operator=(const ContractGpu&) = delete;
  Device device() const { return {DeviceType::Gpu, 0}; }
  FakeCuda* fake() const { return fake_.get(); }  // null: it is a real one
  /// At least `count` logical GPUs, on a fake exactly as many; before threads use them.
  void want_logical(int count) const {
    if (fake_)
      divide(count);
    else
      REQUIRE(int(logical_gpus().size()) >= count);
  }

 private:
  static void divide(int count) {
    std::vector<LogicalGpu> logical;
    const int physical = int(physical_gpus().size());
    if (physical == 0) throw FailedPreconditionError(gpu_problem());
    for (int i = 0; i < count; ++i) logical.push_back({i % physical, 0});
    set_logical_gpus(std::move(logical));
  }

  std::unique_ptr<FakeCuda> fake_;
};

/// Numbers between -1 and 1 that no formula hits exactly.
inline Tensor contract_numbers(const Shape& shape, uint64_t seed = 1, float scale = 1) {
  std::vector<float> values(size_t(shape.num_elements()));
  uint64_t state = seed * 0x9e3779b97f4a7c15ull;
  for (float& value : values) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    value = scale * (float(state >> 40) / float(1 << 23) - 1.0f + 0x1p-12f);
  }
  return Tensor(shape, values);
}

struct ContractOptions {
  float tolerance = 2e-6f;  // relative to the largest number of the CPU's result
  bool gradients = true;
};

inline void check_contract_tensor(const std::string& name, const Tensor& cpu, const Tensor& gpu,
                                  float tolerance) {
  INFO(name);
  REQUIRE(bool(cpu) == bool(gpu));
  if (!cpu) return;
  CHECK(gpu.device().type == DeviceType::Gpu);
  REQUIRE(cpu.shape() == gpu.shape());
  REQUIRE(cpu.dtype() == gpu.dtype());
  const std::vector<float> a = cpu.to_vector(), b = gpu.to_vector();
  float largest = 0;
  for (float value : a)
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  if (is_half(cpu.dtype())) tolerance = std::max(tolerance, 8e-3f);
  if (tests_real_gpu() && tolerance > 0)
    tolerance = std::max(tolerance, 5e-6f);  // its own expf, sinf, ...
  for (size_t i = 0; i < a.size(); ++i) {
    const bool same = a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i])) ||
                      std::abs(a[i] - b[i]) <= tolerance * std::max(largest, 1e-3f);
    if (!same) {
      FAIL_CHECK(name << ": element " << i << " is " << b[i] << " on the GPU, " << a[i]
                      << " on the CPU");
      return;
    }
  }
}

using ContractFunction = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;

/// Values and gradients (of the outputs' sum, each weighted by fixed numbers) with inputs on one
/// device.
inline std::vector<Tensor> contract_results(const ContractFunction& fn, std::vector<Tensor> inputs,
                                            Device device, bool gradients) {
  for (Tensor& input : inputs) input = input.to(device);
  GradientTape tape;
  std::vector<Tensor> watched;
  for (const Tensor& input : inputs)
    if (is_floating(input.dtype())) {
      tape.watch(input);
      watched.push_back(input);
    }
  std::vector<Tensor> results = fn(inputs);
  if (!gradients || watched.empty()) return results;
  GradientTape::Call call;
  std::vector<Tensor> targets;
  for (const Tensor& result : results)
    if (is_floating(result.dtype())) {
      const Tensor weights = contract_numbers(result.shape(), 77 + targets.size());
      call.output_gradients.push_back(ops_internal::converted(weights, result.dtype()).to(device));
      targets.push_back(result);
    }
  for (Tensor& gradient : tape.gradient(targets, watched, call))
    results.push_back(gradient ? gradient.row_major() : gradient);
  return results;
}

inline void check_contract(const std::string& name, const ContractFunction& fn,
                           const std::vector<Tensor>& inputs, ContractOptions options = {}) {
  INFO(name);
  const std::vector<Tensor> cpu = contract_results(fn, inputs, Device{}, options.gradients);
  const std::vector<Tensor> gpu =
      contract_results(fn, inputs, {DeviceType::Gpu, 0}, options.gradients);
  REQUIRE(cpu.size() == gpu.size());
  for (size_t i = 0; i < cpu.size(); ++i)
    check_contract_tensor(str_cat(name, " result ", i), cpu[i], gpu[i], options.tolerance);
}

}  // namespace distribute::testing
