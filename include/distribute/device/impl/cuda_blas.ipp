#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/process_state.hpp>
#include <distribute/device/detail/cuda_blas.hpp>
#include <distribute/device/detail/cuda_device.hpp>
#include <distribute/device/detail/cuda_library.hpp>
#include <distribute/device/detail/cuda_state.hpp>
#include <distribute/device/detail/cuda_stream.hpp>
#include <distribute/device/placement.hpp>

#include <map>
#include <mutex>
#include <unordered_map>

namespace distribute {

namespace blas_internal {

// These are enumerators of cublasLt.h, cublas_api.h and library_types.h.
inline constexpr int kCompute32F = 68, kCompute32FFastTf32 = 77;
inline constexpr int kReal32F = 0, kReal16F = 2, kReal16BF = 14;
inline constexpr int kDescTransA = 3, kDescTransB = 4, kDescEpilogue = 7, kDescBiasPointer = 8;
inline constexpr int kEpilogueDefault = 1, kEpilogueRelu = 2, kEpilogueBias = 4;
inline constexpr int kLayoutBatchCount = 5, kLayoutBatchStride = 6;
inline constexpr int kPreferWorkspace = 1, kPreferReductions = 3, kPreferAlignmentA = 5;
inline constexpr uint32_t kReductionsInOrder = 2 | 4;  // in the compute type or the output's

/// The state of a loaded library.
struct BlasState {
  CudaBlas table;
  std::string problem;
  std::mutex mutex;                          // guards all below
  std::map<CudaHandle, CudaHandle> handles;  // by context
  std::unordered_map<std::string, BlasChoice> choices;
};

/// The state of the library itself, loaded at first use, and the state that a test has set.
struct BlasStates {
  std::once_flag loaded;
  BlasState own;
  BlasState* of_test = nullptr;
};

DISTRIBUTE_INLINE BlasState*& blas_slot() { return in_process<BlasStates>().of_test; }

DISTRIBUTE_INLINE BlasState& blas_state() {
  auto& states = in_process<BlasStates>();
  if (states.of_test) return *states.of_test;
  std::call_once(states.loaded, [&] { states.own.problem = load_cuda_blas(states.own.table); });
  return states.own;
}

DISTRIBUTE_INLINE std::string describe(const MatmulShape& s) {
  return str_cat(s.batch, " x [", s.rows, ", ", s.inner, "] [", s.inner, ", ", s.columns, "] ",
                 name_of(s.dtype), s.transpose_a ? " a transposed" : "",
                 s.transpose_b ? " b transposed" : "");
}

DISTRIBUTE_INLINE void check(int status, const char* call, const MatmulShape& shape) {
  if (status == 0) return;
  throw InternalError(str_cat(call, " of ", describe(shape), ": ",
                              blas_state().table.cublasLtGetStatusName(status)));
}

/// Owns a descriptor of the library.
class Descriptor {
 public:
  using Destroy = int (*)(CudaHandle);
  explicit Descriptor(Destroy destroy) : destroy_(destroy) {}
  ~Descriptor() {
    if (native_) destroy_(native_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  CudaHandle* out() { return &native_; }
  CudaHandle native() const { return native_; }

 private:
  Destroy destroy_;
  CudaHandle native_ = nullptr;
};

DISTRIBUTE_INLINE int type_of(DType dtype) {
  if (dtype == DType::BFloat16) return kReal16BF;
  return dtype == DType::Float16 ? kReal16F : kReal32F;
}

/// The library's matrices are column-major: a row-major [r, c] is a column-major [c, r]. So it
/// computes the transposed product, c^T = op(b)^T op(a)^T, and no element is moved.
class Product {
 public:
  Product(const CudaBlas& blas, const MatmulShape& s, const void* bias, Epilogue epilogue)
      : blas_(blas),
        shape_(s),
        product_(blas.cublasLtMatmulDescDestroy),
        first_(blas.cublasLtMatrixLayoutDestroy),
        second_(blas.cublasLtMatrixLayoutDestroy),
        result_(blas.cublasLtMatrixLayoutDestroy) {
    const bool fast =
        s.dtype == DType::Float32 && config::experimental::tensor_float_32_execution_enabled();
    check(blas.cublasLtMatmulDescCreate(product_.out(), fast ? kCompute32FFastTf32 : kCompute32F,
                                        kReal32F),
          "cublasLtMatmulDescCreate", s);
    set(kDescTransA, int32_t{s.transpose_b});
    set(kDescTransB, int32_t{s.transpose_a});
    int32_t after = epilogue == Epilogue::Relu ? kEpilogueRelu : 0;
    if (bias) after |= kEpilogueBias;
    set(kDescEpilogue, after ? after : kEpilogueDefault);
    if (bias) set(kDescBiasPointer, bias);
    layout(first_, s.transpose_b ? s.columns : s.inner, s.transpose_b ? s.inner : s.columns);
    layout(second_, s.transpose_a ? s.inner : s.rows, s.transpose_a ? s.rows : s.inner);
    layout(result_, s.rows, s.columns);
  }

  /// Gives the library's first choice for operands of this alignment.
  BlasChoice choose(CudaHandle handle, uint32_t alignment) const {
    Descriptor preference(blas_.cublasLtMatmulPreferenceDestroy);
    check(blas_.cublasLtMatmulPreferenceCreate(preference.out()), "cublasLtMatmulPreferenceCreate",
          shape_);
    const auto prefer = [&](int name, auto value) {
      check(blas_.cublasLtMatmulPreferenceSetAttribute(preference.native(), name, &value,
                                                       sizeof value),
            "cublasLtMatmulPreferenceSetAttribute", shape_);
    };
    prefer(kPreferWorkspace, size_t{32} << 20);
    for (int operand = 0; operand < 4; ++operand) prefer(kPreferAlignmentA + operand, alignment);
    if (config::experimental::is_op_determinism_enabled())
      prefer(kPreferReductions, kReductionsInOrder);
    BlasChoice choice;
    int found = 0;
    check(blas_.cublasLtMatmulAlgoGetHeuristic(handle, product_.native(), first_.native(),
                                               second_.native(), result_.native(), result_.native(),
                                               preference.native(), 1, &choice, &found),
          "cublasLtMatmulAlgoGetHeuristic", shape_);
    if (found == 0) throw UnimplementedError("cuBLASLt has no kernel for " + describe(shape_));
    return choice;
  }

  void run(CudaHandle handle, const void* a, const void* b, void* c, const BlasChoice& choice,
           CudaStreamRef stream) const {
    const Buffer workspace(int64_t(choice.workspace_bytes), stream.device());
    const float one = 1, zero = 0;
    check(blas_.cublasLtMatmul(handle, product_.native(), &one, b, first_.native(), a,
                               second_.native(), &zero, c, result_.native(), c, result_.native(),
                               choice.algorithm, workspace.data(), choice.workspace_bytes,
                               stream.native()),
          "cublasLtMatmul", shape_);
  }

 private:
  template <typename T>
  void set(int name, T value) {
    check(blas_.cublasLtMatmulDescSetAttribute(product_.native(), name, &value, sizeof value),
          "cublasLtMatmulDescSetAttribute", shape_);
  }
  /// Sets the layout of a block that is [rows, columns] row-major.
  void layout(Descriptor& d, int64_t rows, int64_t columns) {
    check(blas_.cublasLtMatrixLayoutCreate(d.out(), type_of(shape_.dtype), uint64_t(columns),
                                           uint64_t(rows), columns),
          "cublasLtMatrixLayoutCreate", shape_);
    if (shape_.batch == 1) return;
    const int32_t count = int32_t(shape_.batch);
    const int64_t stride = rows * columns;
    for (const auto& [name, value, bytes] :
         {std::tuple<int, const void*, size_t>{kLayoutBatchCount, &count, sizeof count},
          {kLayoutBatchStride, &stride, sizeof stride}})
      check(blas_.cublasLtMatrixLayoutSetAttribute(d.native(), name, value, bytes),
            "cublasLtMatrixLayoutSetAttribute", shape_);
  }

  const CudaBlas& blas_;
  const MatmulShape& shape_;
  Descriptor product_, first_, second_, result_;
};

/// The largest power of two, at most 256, that divides all addresses.
DISTRIBUTE_INLINE uint32_t common_alignment(std::initializer_list<const void*> addresses) {
  uintptr_t bits = 256;
  for (const void* address : addresses) bits |= reinterpret_cast<uintptr_t>(address);
  return uint32_t(bits & (~bits + 1));
}

DISTRIBUTE_INLINE CudaHandle handle_of(BlasState& state, CudaHandle context,
                                       const MatmulShape& shape) {
  std::lock_guard lock(state.mutex);
  CudaHandle& handle = state.handles[context];
  if (!handle) check(state.table.cublasLtCreate(&handle), "cublasLtCreate", shape);
  return handle;
}

/// Gives the choice for a product. Choices are kept for each shape, alignment and setting.
DISTRIBUTE_INLINE BlasChoice choice_of(BlasState& state, const Product& product, CudaHandle handle,
                                       const MatmulShape& s, int after, uint32_t alignment) {
  const int64_t numbers[] = {int64_t(s.dtype),
                             s.batch,
                             s.rows,
                             s.columns,
                             s.inner,
                             s.transpose_a + 2 * s.transpose_b + 4 * after,
                             alignment,
                             config::experimental::tensor_float_32_execution_enabled() +
                                 2 * config::experimental::is_op_determinism_enabled(),
                             int64_t(reinterpret_cast<intptr_t>(handle))};
  const std::string key(reinterpret_cast<const char*>(numbers), sizeof numbers);
  {
    std::lock_guard lock(state.mutex);
    if (const auto found = state.choices.find(key); found != state.choices.end())
      return found->second;
  }
  const BlasChoice choice = product.choose(handle, alignment);
  std::lock_guard lock(state.mutex);
  return state.choices.emplace(key, choice).first->second;
}

}  // namespace blas_internal

DISTRIBUTE_INLINE std::string load_cuda_blas(CudaBlas& blas) {
  return load_cuda_functions(
      {.what = "cuBLASLt",
       .files = files_for_driver({"libcublasLt.so.13", "libcublasLt.so.12"}, cuda_driver_version()),
       .package = "cuBLAS of the CUDA toolkit (nvidia-cublas)",
       .folders = {"cu13", "cublas"}},
      {{"cublasLtGetStatusName", blas.cublasLtGetStatusName},
       {"cublasLtCreate", blas.cublasLtCreate},
       {"cublasLtMatmulDescCreate", blas.cublasLtMatmulDescCreate},
       {"cublasLtMatmulDescDestroy", blas.cublasLtMatmulDescDestroy},
       {"cublasLtMatmulDescSetAttribute", blas.cublasLtMatmulDescSetAttribute},
       {"cublasLtMatrixLayoutCreate", blas.cublasLtMatrixLayoutCreate},
       {"cublasLtMatrixLayoutDestroy", blas.cublasLtMatrixLayoutDestroy},
       {"cublasLtMatrixLayoutSetAttribute", blas.cublasLtMatrixLayoutSetAttribute},
       {"cublasLtMatmulPreferenceCreate", blas.cublasLtMatmulPreferenceCreate},
       {"cublasLtMatmulPreferenceDestroy", blas.cublasLtMatmulPreferenceDestroy},
       {"cublasLtMatmulPreferenceSetAttribute", blas.cublasLtMatmulPreferenceSetAttribute},
       {"cublasLtMatmulAlgoGetHeuristic", blas.cublasLtMatmulAlgoGetHeuristic},
       {"cublasLtMatmul", blas.cublasLtMatmul}});
}

DISTRIBUTE_INLINE ScopedCudaBlas::ScopedCudaBlas(const CudaBlas& blas)
    : previous_(blas_internal::blas_slot()) {
  blas_internal::blas_slot() = new blas_internal::BlasState;
  blas_internal::blas_slot()->table = blas;
}
DISTRIBUTE_INLINE ScopedCudaBlas::~ScopedCudaBlas() {
  delete blas_internal::blas_slot();
  blas_internal::blas_slot() = static_cast<blas_internal::BlasState*>(previous_);
}

DISTRIBUTE_INLINE std::string cuda_blas_problem() {
  if (!blas_internal::blas_slot() && !device_internal::gpu_state().uses_libraries)
    return "cuBLASLt: not used with a test's tables";
  return blas_internal::blas_state().problem;
}

DISTRIBUTE_INLINE Array cuda_blas_matmul(const MatmulShape& s, const Array& a, const Array& b,
                                         const Array* bias, Epilogue epilogue) {
  using namespace blas_internal;
  BlasState& state = blas_state();
  if (!state.problem.empty()) throw UnavailableError(state.problem);
  const Device device = a.buffer->device();
  const Array c = make_array(s.batch * s.rows * s.columns * size_of(s.dtype), device);
  const void* const bias_data = bias ? bias->bytes() : nullptr;
  const GpuGuard guard(device);
  const Product product(state.table, s, bias_data, epilogue);
  const CudaHandle handle = handle_of(state, cuda_context(device), s);
  const uint32_t alignment = common_alignment({a.bytes(), b.bytes(), c.bytes(), bias_data});
  const int after = (bias ? 1 : 0) + 2 * int(epilogue);
  const BlasChoice choice = choice_of(state, product, handle, s, after, alignment);
  product.run(handle, a.bytes(), b.bytes(), c.bytes(), choice, current_stream(device));
  return c;
}

}  // namespace distribute
