#include "fake_blas.hpp"

#include <distribute/device/dtype.hpp>

#include "fake_cuda.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <stdexcept>
#include <utility>
#include <vector>

namespace distribute::testing {

namespace {

/// Descriptors are maps from attribute to the bytes that were set. Column-major, as the library.
struct FakeBlasObject {
  std::map<int, std::vector<char>> set = {};
  int type = 0;
  int64_t rows = 0, columns = 0, leading = 0;

  template <typename T>
  T get(int name, T otherwise) const {
    const auto found = set.find(name);
    if (found == set.end()) return otherwise;
    T value;
    if (found->second.size() != sizeof value) throw std::logic_error("attribute of another size");
    std::memcpy(&value, found->second.data(), sizeof value);
    return value;
  }
};

struct BlasFunctions : FakeBlas {
  static FakeBlasObject& at(CudaHandle handle) { return *static_cast<FakeBlasObject*>(handle); }
  static int make(CudaHandle* out, FakeBlasObject object) {
    *out = new FakeBlasObject(std::move(object));
    ++alive;
    return 0;
  }
  static int destroy(CudaHandle handle) {
    delete static_cast<FakeBlasObject*>(handle);
    --alive;
    return 0;
  }
  static int set(CudaHandle handle, int name, const void* value, size_t bytes) {
    const char* from = static_cast<const char*>(value);
    at(handle).set[name].assign(from, from + bytes);
    return 0;
  }
  static float load(const void* data, int64_t i, int type) {
    if (type == 14) return static_cast<const bfloat16*>(data)[i];
    if (type == 2) return static_cast<const float16*>(data)[i];
    return static_cast<const float*>(data)[i];
  }
  static void store(void* data, int64_t i, int type, float value) {
    if (type == 14)
      static_cast<bfloat16*>(data)[i] = value;
    else if (type == 2)
      static_cast<float16*>(data)[i] = value;
    else
      static_cast<float*>(data)[i] = value;
  }

  static int choose(CudaHandle, CudaHandle, CudaHandle, CudaHandle, CudaHandle, CudaHandle,
                    CudaHandle preference, int, BlasChoice* choice, int* found) {
    ++heuristics;
    last_alignment = at(preference).get<uint32_t>(5, 256);
    last_reductions = at(preference).get<uint32_t>(3, 7);
    choice->workspace_bytes = 64;
    choice->algorithm[0] = 7;
    *found = 1;
    return 0;
  }

  /// What a product's descriptors say.
  struct Task {
    FakeBlasObject a, b, d;
    bool transpose_a, transpose_b;
    int epilogue;
    int64_t inner, batch;
  };

  static void multiply(const Task& t, const void* a, const void* b, const void* bias, void* d) {
    const auto &la = t.a, &lb = t.b, &ld = t.d;
    const bool ta = t.transpose_a, tb = t.transpose_b;
    const int64_t inner = t.inner, batch = t.batch;
    const int epilogue = t.epilogue;
    for (int64_t n = 0; n < batch; ++n)
      for (int64_t r = 0; r < ld.rows; ++r)
        for (int64_t c = 0; c < ld.columns; ++c) {
          float sum = 0;
          for (int64_t k = 0; k < inner; ++k)
            sum +=
                load(a, n * la.get<int64_t>(6, 0) + (ta ? r * la.leading + k : k * la.leading + r),
                     la.type) *
                load(b, n * lb.get<int64_t>(6, 0) + (tb ? k * lb.leading + c : c * lb.leading + k),
                     lb.type);
          if (epilogue & 4) sum += load(bias, r, ld.type);
          if (epilogue & 2) sum = std::max(sum, 0.0f);
          store(d, n * ld.get<int64_t>(6, 0) + c * ld.leading + r, ld.type, sum);
        }
  }

  static int matmul(CudaHandle, CudaHandle product, const void* alpha, const void* a, CudaHandle ad,
                    const void* b, CudaHandle bd, const void* beta, const void*, CudaHandle,
                    void* d, CudaHandle dd, const void* algorithm, void* workspace, size_t bytes,
                    CudaHandle stream) {
    ++products;
    if (static_cast<const uint64_t*>(algorithm)[0] != 7 || !workspace || bytes != 64) return 7;
    if (*static_cast<const float*>(alpha) != 1 || *static_cast<const float*>(beta) != 0) return 7;
    const FakeBlasObject &p = at(product), &la = at(ad), &lb = at(bd), &ld = at(dd);
    last_compute_type = p.type;
    const bool ta = p.get<int32_t>(3, 0) != 0, tb = p.get<int32_t>(4, 0) != 0;
    const int epilogue = p.get<int32_t>(7, 1);
    const void* const bias = p.get<const void*>(8, nullptr);
    const int64_t inner = ta ? la.rows : la.columns, batch = ld.get<int32_t>(5, 1);
    if (inner != (tb ? lb.columns : lb.rows)) return 7;
    if (ld.rows != (ta ? la.columns : la.rows) || ld.columns != (tb ? lb.rows : lb.columns))
      return 7;
    const Task task{la, lb, ld, ta, tb, epilogue, inner, batch};
    const bool taken = FakeCuda::on_stream(stream, {a, b, bias, d, workspace},
                                           [=] { multiply(task, a, b, bias, d); });
    return taken ? 0 : 13;
  }

  static CudaBlas made() {
    alive = heuristics = products = 0;
    CudaBlas t;
    t.cublasLtGetStatusName = [](int) { return "CUBLAS_STATUS_INVALID_VALUE"; };
    t.cublasLtCreate = [](CudaHandle* out) {
      static int library;
      *out = &library;
      return 0;
    };
    t.cublasLtMatmulDescCreate = [](CudaHandle* out, int compute, int) {
      return make(out, {.type = compute});
    };
    t.cublasLtMatrixLayoutCreate = [](CudaHandle* out, int type, uint64_t rows, uint64_t columns,
                                      int64_t leading) {
      return make(out, {{}, type, int64_t(rows), int64_t(columns), leading});
    };
    t.cublasLtMatmulPreferenceCreate = [](CudaHandle* out) { return make(out, {}); };
    t.cublasLtMatmulDescDestroy = t.cublasLtMatrixLayoutDestroy =
        t.cublasLtMatmulPreferenceDestroy = destroy;
    t.cublasLtMatmulDescSetAttribute = t.cublasLtMatrixLayoutSetAttribute =
        t.cublasLtMatmulPreferenceSetAttribute = set;
    t.cublasLtMatmulAlgoGetHeuristic = choose;
    t.cublasLtMatmul = matmul;
    return t;
  }
};

}  // namespace

CudaBlas FakeBlas::table() { return BlasFunctions::made(); }

}  // namespace distribute::testing
