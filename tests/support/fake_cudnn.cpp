#include "fake_cudnn.hpp"

#if DISTRIBUTE_HAS_CUDNN

#include <distribute/device/dtype.hpp>

#include "fake_cuda.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace distribute::testing {

namespace {

class CudnnFunctions : public FakeCudnn {
 public:
  static cudnn_internal::CudnnTable made() {
    alive = plans = executed = 0;
    has_norm_backward = adds_gradients = has_attention = true;
    has_passes = has_statistics = has_scaling = true;
    compiler_fails = false;
    cudnn_internal::CudnnTable t;
    t.get_version = [] { return size_t{91900}; };
    t.get_error_string = [](cudnnStatus_t) { return "FAKE_STATUS"; };
    t.get_last_error_string = [](char* text, size_t) { *text = 0; };
    t.create = [](cudnnHandle_t* handle) {
      static int library;
      *handle = reinterpret_cast<cudnnHandle_t>(&library);
      return CUDNN_STATUS_SUCCESS;
    };
    t.destroy = [](cudnnHandle_t) { return CUDNN_STATUS_SUCCESS; };
    t.set_stream = [](cudnnHandle_t, cudaStream_t stream) {
      return current_stream = stream, CUDNN_STATUS_SUCCESS;
    };
    t.create_descriptor = [](cudnnBackendDescriptorType_t type, cudnnBackendDescriptor_t* out) {
      ++alive;
      *out = new Object{type};
      return CUDNN_STATUS_SUCCESS;
    };
    t.destroy_descriptor = [](cudnnBackendDescriptor_t d) {
      --alive;
      delete static_cast<Object*>(d);
      return CUDNN_STATUS_SUCCESS;
    };
    t.set_attribute = set;
    t.get_attribute = get;
    t.finalize = finalize;
    t.execute = execute;
    FakeRnn::stream = [] { return current_stream; };
    FakeRnn::fill(t);
    return t;
  }

 private:
  struct TensorInfo {
    std::vector<int64_t> dims, strides;
    int64_t id = 0;
    int type = 0;
    bool is_virtual = false, by_value = false;
    int64_t count() const { return dims[0] * dims[1] * dims[2] * dims[3]; }
  };
  struct Node {
    int type, mode = 0, axis = 0;
    std::map<int, TensorInfo> tensors;
    std::vector<int64_t> pad, stride, dilation;
  };
  using Program = std::shared_ptr<std::vector<Node>>;
  struct Object {
    int type;
    std::map<int, std::vector<char>> set = {};
    Program program = nullptr;

    template <typename T>
    std::vector<T> all(int name) const {
      const auto found = set.find(name);
      if (found == set.end()) return {};
      std::vector<T> values(found->second.size() / sizeof(T));
      std::memcpy(values.data(), found->second.data(), found->second.size());
      return values;
    }
    template <typename T>
    T one(int name) const {
      return all<T>(name).at(0);
    }
  };
  static Object& at(cudnnBackendDescriptor_t d) { return *static_cast<Object*>(d); }

  static size_t size_of_attribute(cudnnBackendAttributeType_t type) {
    if (type == CUDNN_TYPE_BOOLEAN || type == CUDNN_TYPE_CHAR) return 1;
    const bool wide = type == CUDNN_TYPE_INT64 || type == CUDNN_TYPE_DOUBLE ||
                      type == CUDNN_TYPE_VOID_PTR || type == CUDNN_TYPE_BACKEND_DESCRIPTOR ||
                      type == CUDNN_TYPE_HANDLE;
    return wide ? 8 : 4;
  }
  static cudnnStatus_t set(cudnnBackendDescriptor_t d, cudnnBackendAttributeName_t name,
                           cudnnBackendAttributeType_t type, int64_t count, const void* values) {
    const char* from = static_cast<const char*>(values);
    at(d).set[name].assign(from, from + size_t(count) * size_of_attribute(type));
    return CUDNN_STATUS_SUCCESS;
  }

  static TensorInfo tensor(const Object& o) {
    return {o.all<int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS),
            o.all<int64_t>(CUDNN_ATTR_TENSOR_STRIDES),
            o.one<int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID),
            o.one<int>(CUDNN_ATTR_TENSOR_DATA_TYPE),
            o.one<char>(CUDNN_ATTR_TENSOR_IS_VIRTUAL) != 0,
            o.one<char>(CUDNN_ATTR_TENSOR_IS_BY_VALUE) != 0};
  }
  static Node node(const Object& o) {
    Node n{o.type, 0, 0, {}, {}, {}, {}};
    for (const auto& [name, bytes] : o.set) {
      if (bytes.size() != 8) continue;
      const auto* other = o.one<const Object*>(name);
      const bool scalar = name == CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA ||
                          name == CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA ||
                          name == CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA ||
                          name == CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA ||
                          name == CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA ||
                          name == CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA;
      if (scalar) continue;
      if (other->type == CUDNN_BACKEND_TENSOR_DESCRIPTOR) n.tensors[name] = tensor(*other);
      if (other->type == CUDNN_BACKEND_POINTWISE_DESCRIPTOR) {
        n.mode = other->one<int>(CUDNN_ATTR_POINTWISE_MODE);
        for (int64_t axis : other->all<int64_t>(CUDNN_ATTR_POINTWISE_AXIS)) n.axis = int(axis);
      }
      if (other->type == CUDNN_BACKEND_REDUCTION_DESCRIPTOR)
        n.mode = other->one<int>(CUDNN_ATTR_REDUCTION_OPERATOR);
      if (other->type == CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR) {
        n.pad = other->all<int64_t>(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS);
        n.stride = other->all<int64_t>(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES);
        n.dilation = other->all<int64_t>(CUDNN_ATTR_CONVOLUTION_DILATIONS);
      }
    }
    return n;
  }

  static cudnnStatus_t finalize(cudnnBackendDescriptor_t d) {
    Object& o = at(d);
    if (o.type == CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR) {
      if (!o.set.contains(CUDNN_ATTR_OPERATIONGRAPH_HANDLE)) return CUDNN_STATUS_BAD_PARAM;
      o.program = std::make_shared<std::vector<Node>>();
      for (const Object* op : o.all<const Object*>(CUDNN_ATTR_OPERATIONGRAPH_OPS))
        o.program->push_back(node(*op));
    }
    if (o.type == CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR)
      o.program = o.one<const Object*>(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH)->program;
    if (o.type == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR) {
      if (!o.set.contains(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG)) return CUDNN_STATUS_BAD_PARAM;
      if (!o.set.contains(CUDNN_ATTR_EXECUTION_PLAN_HANDLE)) return CUDNN_STATUS_BAD_PARAM;
      if (compiler_fails) return CUDNN_STATUS_INTERNAL_ERROR_COMPILATION_FAILED;
      ++plans;
      o.program = o.one<const Object*>(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG)->program;
    }
    return CUDNN_STATUS_SUCCESS;
  }

  static bool sums_channels(const Node& n) {
    const auto y = n.tensors.find(CUDNN_ATTR_OPERATION_REDUCTION_YDESC);
    return y != n.tensors.end() && y->second.dims[0] == 1 && y->second.dims[1] > 1;
  }

  static bool known(const Program& program) {
    int additions = 0;
    bool scales = true;
    for (const Node& n : *program) {
      const bool pointwise = n.type == CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR;
      const bool convolution =
          n.type == CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR ||
          n.type == CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR ||
          n.type == CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR;
      const bool norm = n.type == CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR ||
                        n.type == CUDNN_BACKEND_OPERATION_NORM_BACKWARD_DESCRIPTOR;
      const bool matrix = n.type == CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR ||
                          n.type == CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR ||
                          n.type == CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR;
      const bool statistics = n.type == CUDNN_BACKEND_OPERATION_GEN_STATS_DESCRIPTOR;
      if (statistics && !has_statistics) return false;
      if (matrix && !(sums_channels(n) ? has_passes : has_attention)) return false;
      if (!pointwise && !convolution && !norm && !matrix && !statistics) return false;
      scales &= pointwise;
      additions += pointwise && n.mode == CUDNN_POINTWISE_ADD;
      if (n.type == CUDNN_BACKEND_OPERATION_NORM_BACKWARD_DESCRIPTOR &&
          (!has_norm_backward || (additions > 0 && !adds_gradients)))
        return false;
    }
    return has_scaling || !scales;
  }

  static cudnnStatus_t get(cudnnBackendDescriptor_t d, cudnnBackendAttributeName_t name,
                           cudnnBackendAttributeType_t, int64_t wanted, int64_t* count,
                           void* values) {
    const std::string text = name == CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION
                                 ? R"({"deviceVer":900,"deviceName":"Fake"})"
                                 : "stored plan";
    switch (name) {
      case CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION:
      case CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION:
        *count = int64_t(text.size());
        if (wanted) std::memcpy(values, text.data(), text.size());
        break;
      case CUDNN_ATTR_ENGINEHEUR_RESULTS:
        *count =
            at(d).one<int>(CUDNN_ATTR_ENGINEHEUR_MODE) == CUDNN_HEUR_MODE_A && known(at(d).program);
        if (wanted) at(static_cast<void**>(values)[0]).program = at(d).program;
        break;
      case CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE: *static_cast<int64_t*>(values) = 128; break;
      default: *count = 0;
    }
    return CUDNN_STATUS_SUCCESS;
  }

  /// Values of the tensors of one execution, in the order of their dimensions.
  struct Run {
    std::map<int64_t, void*> pointers;
    std::map<int64_t, std::vector<float>> values;

    static void each(const TensorInfo& t, const std::function<void(int64_t, int64_t)>& fn) {
      int64_t i = 0;
      for (int64_t n = 0; n < t.dims[0]; ++n)
        for (int64_t c = 0; c < t.dims[1]; ++c)
          for (int64_t h = 0; h < t.dims[2]; ++h)
            for (int64_t w = 0; w < t.dims[3]; ++w)
              fn(i++, n * t.strides[0] + c * t.strides[1] + h * t.strides[2] + w * t.strides[3]);
    }
    void* place_of(const TensorInfo& t) const {
      void* p = pointers.at(t.id);
      if (!t.by_value && reinterpret_cast<uintptr_t>(p) % 16)
        throw std::logic_error("an address that plans cannot take");
      return p;
    }
    std::vector<float>& read(const TensorInfo& t) {
      std::vector<float>& v = values[t.id];
      if (!v.empty() || t.is_virtual) return v;
      v.resize(size_t(t.count()));
      each(t, [&](int64_t i, int64_t at) {
        const void* p = place_of(t);
        if (t.type == CUDNN_DATA_BOOLEAN) {
          v[size_t(i)] = float(static_cast<const uint8_t*>(p)[at / 8] >> at % 8 & 1);
          return;
        }
        v[size_t(i)] = t.type == CUDNN_DATA_BFLOAT16 ? float(static_cast<const bfloat16*>(p)[at])
                       : t.type == CUDNN_DATA_HALF   ? float(static_cast<const float16*>(p)[at])
                                                     : static_cast<const float*>(p)[at];
      });
      return v;
    }
    void write(const TensorInfo& t) {
      if (t.is_virtual) return;
      void* p = place_of(t);
      each(t, [&](int64_t i, int64_t at) {
        const float value = values[t.id][size_t(i)];
        if (t.type == CUDNN_DATA_BOOLEAN) {
          uint8_t& byte = static_cast<uint8_t*>(p)[at / 8];
          byte = uint8_t((byte & ~(1 << at % 8)) | (value != 0) << at % 8);
          return;
        }
        if (t.type == CUDNN_DATA_BFLOAT16)
          static_cast<bfloat16*>(p)[at] = value;
        else if (t.type == CUDNN_DATA_HALF)
          static_cast<float16*>(p)[at] = value;
        else
          static_cast<float*>(p)[at] = value;
      });
    }
  };

  /// Calls fn(x, w, y) with the places of every product of a convolution.
  static void products(const Node& n, const TensorInfo& x, const TensorInfo& w, const TensorInfo& y,
                       const std::function<void(size_t, size_t, size_t)>& fn) {
    const auto place = [](const TensorInfo& t, int64_t a, int64_t b, int64_t c, int64_t d) {
      return size_t(((a * t.dims[1] + b) * t.dims[2] + c) * t.dims[3] + d);
    };
    const int64_t group_in = w.dims[1], group_out = w.dims[0] / (x.dims[1] / group_in);
    for (int64_t b = 0; b < y.dims[0]; ++b)
      for (int64_t k = 0; k < y.dims[1]; ++k)
        for (int64_t oy = 0; oy < y.dims[2]; ++oy)
          for (int64_t ox = 0; ox < y.dims[3]; ++ox)
            for (int64_t c = 0; c < group_in; ++c)
              for (int64_t ky = 0; ky < w.dims[2]; ++ky)
                for (int64_t kx = 0; kx < w.dims[3]; ++kx) {
                  const int64_t iy = oy * n.stride[0] - n.pad[0] + ky * n.dilation[0];
                  const int64_t ix = ox * n.stride[1] - n.pad[1] + kx * n.dilation[1];
                  if (iy < 0 || ix < 0 || iy >= x.dims[2] || ix >= x.dims[3]) continue;
                  fn(place(x, b, k / group_out * group_in + c, iy, ix), place(w, k, c, ky, kx),
                     place(y, b, k, oy, ox));
                }
  }

  static void norm(const Node& n, Run& run) {
    const auto t = [&](int name) -> const TensorInfo& { return n.tensors.at(name); };
    const TensorInfo &x = t(CUDNN_ATTR_OPERATION_NORM_FWD_XDESC),
                     &y = t(CUDNN_ATTR_OPERATION_NORM_FWD_YDESC),
                     &m = t(CUDNN_ATTR_OPERATION_NORM_FWD_MEAN_DESC),
                     &d = t(CUDNN_ATTR_OPERATION_NORM_FWD_INV_VARIANCE_DESC);
    const auto &from = run.read(x), &scale = run.read(t(CUDNN_ATTR_OPERATION_NORM_FWD_SCALE_DESC)),
               &bias = run.read(t(CUDNN_ATTR_OPERATION_NORM_FWD_BIAS_DESC));
    const float epsilon = run.read(t(CUDNN_ATTR_OPERATION_NORM_FWD_EPSILON_DESC))[0];
    const size_t channels = size_t(x.dims[1]), pixels = size_t(x.dims[2] * x.dims[3]);
    const double count = double(from.size()) / double(channels);
    std::vector<double> sum(channels), squares(channels);
    for (size_t i = 0; i < from.size(); ++i) sum[i / pixels % channels] += from[i] / count;
    for (size_t i = 0; i < from.size(); ++i) {
      const double centered = from[i] - sum[i / pixels % channels];
      squares[i / pixels % channels] += centered * centered / count;
    }
    run.values[m.id].assign(sum.begin(), sum.end());
    auto& deviation = run.values[d.id];
    for (double square : squares) deviation.push_back(float(1 / std::sqrt(square + epsilon)));
    auto& to = run.values[y.id];
    to.resize(from.size());
    for (size_t i = 0; i < to.size(); ++i) {
      const size_t c = i / pixels % channels;
      to[i] = float((from[i] - sum[c]) * deviation[c] * scale[c] + bias[c]);
    }
    for (const TensorInfo& written : {y, m, d}) run.write(written);
  }

  static void norm_backward(const Node& n, Run& run) {
    const auto t = [&](int name) -> const TensorInfo& { return n.tensors.at(name); };
    const TensorInfo &x = t(CUDNN_ATTR_OPERATION_NORM_BWD_XDESC),
                     &dx = t(CUDNN_ATTR_OPERATION_NORM_BWD_DXDESC),
                     &ds = t(CUDNN_ATTR_OPERATION_NORM_BWD_DSCALE_DESC),
                     &db = t(CUDNN_ATTR_OPERATION_NORM_BWD_DBIAS_DESC);
    const auto &from = run.read(x), &dy = run.read(t(CUDNN_ATTR_OPERATION_NORM_BWD_DYDESC)),
               &scale = run.read(t(CUDNN_ATTR_OPERATION_NORM_BWD_SCALE_DESC)),
               &mean = run.read(t(CUDNN_ATTR_OPERATION_NORM_BWD_MEAN_DESC)),
               &deviation = run.read(t(CUDNN_ATTR_OPERATION_NORM_BWD_INV_VARIANCE_DESC));
    const size_t channels = size_t(x.dims[1]), pixels = size_t(x.dims[2] * x.dims[3]);
    const double count = double(from.size()) / double(channels);
    std::vector<double> dscale(channels), dbias(channels);
    const auto normal = [&](size_t i, size_t c) {
      return double(from[i] - mean[c]) * deviation[c];
    };
    for (size_t i = 0; i < from.size(); ++i) {
      const size_t c = i / pixels % channels;
      dscale[c] += dy[i] * normal(i, c);
      dbias[c] += dy[i];
    }
    auto& to = run.values[dx.id];
    to.resize(from.size());
    for (size_t i = 0; i < to.size(); ++i) {
      const size_t c = i / pixels % channels;
      to[i] = float(scale[c] * deviation[c] *
                    (dy[i] - dbias[c] / count - normal(i, c) * dscale[c] / count));
    }
    run.values[ds.id].assign(dscale.begin(), dscale.end());
    run.values[db.id].assign(dbias.begin(), dbias.end());
    for (const TensorInfo& written : {dx, ds, db}) run.write(written);
  }

  /// Where element i of y, in the order of its dimensions, is along an axis.
  static int64_t place_along(const TensorInfo& y, size_t i, int axis) {
    int64_t below = 1;
    for (int a = 3; a > axis; --a) below *= y.dims[size_t(a)];
    return int64_t(i) / below % y.dims[size_t(axis)];
  }
  /// The element of b, some of whose axes have one element for all of y's, beside element i of y.
  static size_t place_in(const TensorInfo& b, const TensorInfo& y, size_t i) {
    if (b.dims == y.dims) return i;
    int64_t at = 0;
    for (int axis = 0; axis < 4; ++axis) {
      const int64_t size = b.dims[size_t(axis)];
      at = at * size + (size == 1 ? 0 : place_along(y, i, axis));
    }
    return size_t(at);
  }
  static float pointwise(const Node& n, float x, float b, bool chosen, int64_t place) {
    switch (n.mode) {
      case CUDNN_POINTWISE_RELU_FWD: return std::max(x, 0.0f);
      case CUDNN_POINTWISE_CMP_GT: return x > b;
      case CUDNN_POINTWISE_CMP_GE: return x >= b;
      case CUDNN_POINTWISE_ADD: return x + b;
      case CUDNN_POINTWISE_SUB: return x - b;
      case CUDNN_POINTWISE_MUL: return x * b;
      case CUDNN_POINTWISE_DIV: return x / b;
      case CUDNN_POINTWISE_EXP: return std::exp(x);
      case CUDNN_POINTWISE_LOG: return std::log(x);
      case CUDNN_POINTWISE_IDENTITY: return x;
      case CUDNN_POINTWISE_GEN_INDEX: return float(place);
      case CUDNN_POINTWISE_BINARY_SELECT: return chosen ? x : b;
      default: throw std::logic_error("a pointwise function that the fake does not have");
    }
  }

  static void matmul(const Node& n, Run& run) {
    const TensorInfo &a = n.tensors.at(CUDNN_ATTR_OPERATION_MATMUL_ADESC),
                     &b = n.tensors.at(CUDNN_ATTR_OPERATION_MATMUL_BDESC),
                     &c = n.tensors.at(CUDNN_ATTR_OPERATION_MATMUL_CDESC);
    const std::vector<float> x = run.read(a), y = run.read(b);
    auto& z = run.values[c.id];
    z.assign(size_t(c.count()), 0.0f);
    const int64_t rows = a.dims[2], inner = a.dims[3], columns = b.dims[3];
    if (b.dims[2] != inner) throw std::logic_error("a product whose inner sizes differ");
    for (int64_t m = 0; m < a.dims[0] * a.dims[1]; ++m)
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t k = 0; k < inner; ++k)
          for (int64_t j = 0; j < columns; ++j)
            z[size_t((m * rows + i) * columns + j)] +=
                x[size_t((m * rows + i) * inner + k)] * y[size_t((m * inner + k) * columns + j)];
    run.write(c);
  }
  static void reduction(const Node& n, Run& run) {  // of the axes along which y has one element
    const TensorInfo &x = n.tensors.at(CUDNN_ATTR_OPERATION_REDUCTION_XDESC),
                     &y = n.tensors.at(CUDNN_ATTR_OPERATION_REDUCTION_YDESC);
    const std::vector<float> from = run.read(x);
    auto& to = run.values[y.id];
    const bool largest = n.mode == CUDNN_REDUCE_TENSOR_MAX;
    // A sum over channels is added to what is there, as atomic additions do.
    if (sums_channels(n) && !y.is_virtual) to.clear(), run.read(y);
    to.resize(size_t(y.count()), largest ? -std::numeric_limits<float>::infinity() : 0.0f);
    for (size_t i = 0; i < from.size(); ++i) {
      float& value = to[place_in(y, x, i)];
      value = largest ? std::max(value, from[i]) : value + from[i];
    }
    run.write(y);
  }
  static void statistics(const Node& n, Run& run) {
    const TensorInfo &x = n.tensors.at(CUDNN_ATTR_OPERATION_GENSTATS_XDESC),
                     &s = n.tensors.at(CUDNN_ATTR_OPERATION_GENSTATS_SUMDESC),
                     &q = n.tensors.at(CUDNN_ATTR_OPERATION_GENSTATS_SQSUMDESC);
    const std::vector<float> from = run.read(x);
    auto &sums = run.read(s), &squares = run.read(q);
    for (size_t i = 0; i < from.size(); ++i) {
      sums[place_in(s, x, i)] += from[i];
      squares[place_in(q, x, i)] += from[i] * from[i];
    }
    run.write(s);
    run.write(q);
  }
  static void reshape(const Node& n, Run& run) {
    const TensorInfo &x = n.tensors.at(CUDNN_ATTR_OPERATION_RESHAPE_XDESC),
                     &y = n.tensors.at(CUDNN_ATTR_OPERATION_RESHAPE_YDESC);
    const std::vector<float> from = run.read(x);
    std::vector<float> memory(from.size());
    Run::each(x, [&](int64_t i, int64_t at) { memory.at(size_t(at)) = from[size_t(i)]; });
    auto& to = run.values[y.id];
    to.assign(from.size(), 0.0f);
    Run::each(y, [&](int64_t i, int64_t at) { to[size_t(i)] = memory.at(size_t(at)); });
    run.write(y);
  }

  static void run(const Node& n, Run& run) {
    const auto t = [&](int name) -> const TensorInfo& { return n.tensors.at(name); };
    const auto fresh = [&](const TensorInfo& info) -> std::vector<float>& {
      auto& v = run.values[info.id];
      v.assign(size_t(info.count()), 0.0f);
      return v;
    };
    if (n.type == CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR) {
      const TensorInfo &x = t(CUDNN_ATTR_OPERATION_POINTWISE_XDESC),
                       &y = t(CUDNN_ATTR_OPERATION_POINTWISE_YDESC);
      const auto second = n.tensors.find(CUDNN_ATTR_OPERATION_POINTWISE_BDESC);
      const bool has_second = second != n.tensors.end();
      const std::vector<float> from = run.read(x), none;
      const std::vector<float> other = has_second ? run.read(second->second) : none;
      const auto choice = n.tensors.find(CUDNN_ATTR_OPERATION_POINTWISE_TDESC);
      const std::vector<float> chosen = choice != n.tensors.end() ? run.read(choice->second) : none;
      auto& to = fresh(y);
      for (size_t i = 0; i < to.size(); ++i) {
        const float b = has_second ? other[place_in(second->second, y, i)] : 0;
        to[i] = pointwise(n, from[i], b, i < chosen.size() && chosen[i] != 0,
                          place_along(y, i, n.axis));
      }
      return run.write(y);
    }
    if (n.type == CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR) return matmul(n, run);
    if (n.type == CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR) return reduction(n, run);
    if (n.type == CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR) return reshape(n, run);
    if (n.type == CUDNN_BACKEND_OPERATION_GEN_STATS_DESCRIPTOR) return statistics(n, run);
    if (n.type == CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR) return norm(n, run);
    if (n.type == CUDNN_BACKEND_OPERATION_NORM_BACKWARD_DESCRIPTOR) return norm_backward(n, run);
    const int base = n.type == CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR         ? 0
                     : n.type == CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR ? 1
                                                                                              : 2;
    const TensorInfo& x = t(base == 0   ? CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X
                            : base == 1 ? CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX
                                        : CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X);
    const TensorInfo& w = t(base == 0   ? CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W
                            : base == 1 ? CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W
                                        : CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW);
    const TensorInfo& y = t(base == 0   ? CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y
                            : base == 1 ? CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY
                                        : CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY);
    auto& xs = base == 1 ? fresh(x) : run.read(x);
    auto& ws = base == 2 ? fresh(w) : run.read(w);
    auto& ys = base == 0 ? fresh(y) : run.read(y);
    products(n, x, w, y, [&](size_t i, size_t j, size_t k) {
      if (base == 0) ys[k] += xs[i] * ws[j];
      if (base == 1) xs[i] += ys[k] * ws[j];
      if (base == 2) ws[j] += xs[i] * ys[k];
    });
    run.write(base == 0 ? y : base == 1 ? x : w);
  }

  static cudnnStatus_t execute(cudnnHandle_t, cudnnBackendDescriptor_t plan,
                               cudnnBackendDescriptor_t pack) {
    ++executed;
    const auto ids = at(pack).all<int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
    const auto pointers = at(pack).all<void*>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
    if (ids.size() != pointers.size() || !at(pack).one<void*>(CUDNN_ATTR_VARIANT_PACK_WORKSPACE))
      return CUDNN_STATUS_BAD_PARAM;
    Run state;
    for (size_t i = 0; i < ids.size(); ++i) state.pointers[ids[i]] = pointers[i];
    // Values on the host are read by the call, not by a graph's launches.
    for (const Node& n : *at(plan).program)
      for (const auto& [name, tensor] : n.tensors)
        if (tensor.by_value) state.read(tensor);
    const bool taken = FakeCuda::on_stream(current_stream, {pointers.begin(), pointers.end()},
                                           [program = at(plan).program, state] {
                                             Run own = state;  // a graph runs it many times
                                             for (const Node& n : *program) run(n, own);
                                           });
    return taken ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_EXECUTION_FAILED;
  }
};

}  // namespace

cudnn_internal::CudnnTable FakeCudnn::table() { return CudnnFunctions::made(); }

}  // namespace distribute::testing

#endif
