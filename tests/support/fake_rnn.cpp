#include "fake_rnn.hpp"

#if DISTRIBUTE_HAS_CUDNN

#include <distribute/device/dtype.hpp>

#include "fake_cuda.hpp"

#include <cmath>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <stdexcept>
#include <vector>

namespace distribute::testing {

namespace {

class RnnFunctions : public FakeRnn {
 public:
  static void fill_table(cudnn_internal::CudnnTable& t) {
    forward_calls = backward_calls = alive = 0;
    moved_weights = false;
    t.create_tensor = create<cudnnTensorDescriptor_t, State>;
    t.destroy_tensor = destroy<cudnnTensorDescriptor_t, State>;
    t.create_dropout = create<cudnnDropoutDescriptor_t, State>;
    t.destroy_dropout = destroy<cudnnDropoutDescriptor_t, State>;
    t.create_rnn = create<cudnnRNNDescriptor_t, Layer>;
    t.destroy_rnn = destroy<cudnnRNNDescriptor_t, Layer>;
    t.create_rnn_data = create<cudnnRNNDataDescriptor_t, Data>;
    t.destroy_rnn_data = destroy<cudnnRNNDataDescriptor_t, Data>;
    t.set_dropout = [](cudnnDropoutDescriptor_t, cudnnHandle_t handle, float rate, void*, size_t,
                       unsigned long long) {
      return handle && rate == 0 ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM;
    };
    t.set_tensor = [](cudnnTensorDescriptor_t d, cudnnDataType_t, int rank, const int* dims,
                      const int*) {
      as<State>(d).dims.assign(dims, dims + rank);
      return CUDNN_STATUS_SUCCESS;
    };
    t.set_rnn = set_rnn;
    t.set_rnn_data = set_rnn_data;
    t.rnn_weight_bytes = [](cudnnHandle_t, cudnnRNNDescriptor_t d, size_t* bytes) {
      *bytes = size_t(as<Layer>(d).count()) * as<Layer>(d).element();
      return CUDNN_STATUS_SUCCESS;
    };
    t.rnn_weights = rnn_weights;
    t.rnn_temp_bytes = [](cudnnHandle_t, cudnnRNNDescriptor_t d, cudnnForwardMode_t mode,
                          cudnnRNNDataDescriptor_t x, size_t* work, size_t* reserve) {
      const Data& data = as<Data>(x);
      *work = 64;
      *reserve = mode == CUDNN_FWD_MODE_TRAINING
                     ? sizeof(double) * size_t(reserve_of(as<Layer>(d), data))
                     : 0;
      return CUDNN_STATUS_SUCCESS;
    };
    t.rnn_forward = rnn_forward;
    t.rnn_backward_data = backward_data;
    t.rnn_backward_weights = backward_weights;
  }

 private:
  struct State {
    std::vector<int> dims;
  };
  struct Data {
    int steps = 0, batch = 0, width = 0;
    std::vector<int> lengths;
  };
  struct Layer {
    int mode = 0, bias = 0, type = 0;
    int64_t inputs = 0, units = 0;
    int64_t gates() const { return mode == CUDNN_LSTM ? 4 : mode == CUDNN_GRU ? 3 : 1; }
    int64_t biases() const {
      return bias == CUDNN_RNN_NO_BIAS ? 0 : bias == CUDNN_RNN_DOUBLE_BIAS ? 2 : 1;
    }
    int64_t count() const { return gates() * units * (inputs + units + biases()); }
    size_t element() const { return type == CUDNN_DATA_FLOAT ? 4 : 2; }
    int64_t kernel(int64_t g) const { return g * units * inputs; }
    int64_t recurrent(int64_t g) const { return gates() * units * inputs + g * units * units; }
    int64_t first_bias(int64_t g) const { return gates() * units * (inputs + units) + g * units; }
  };

  template <typename T, typename Handle>
  static T& as(Handle handle) {
    return *reinterpret_cast<T*>(handle);
  }
  template <typename Handle, typename T>
  static cudnnStatus_t create(Handle* out) {
    ++alive;
    *out = reinterpret_cast<Handle>(new T);
    return CUDNN_STATUS_SUCCESS;
  }
  template <typename Handle, typename T>
  static cudnnStatus_t destroy(Handle handle) {
    --alive;
    delete reinterpret_cast<T*>(handle);
    return CUDNN_STATUS_SUCCESS;
  }

  static cudnnStatus_t set_rnn(cudnnRNNDescriptor_t d, cudnnRNNAlgo_t, cudnnRNNMode_t mode,
                               cudnnRNNBiasMode_t bias, cudnnDirectionMode_t direction,
                               cudnnRNNInputMode_t input, cudnnDataType_t type,
                               cudnnDataType_t precision, cudnnMathType_t, int32_t inputs,
                               int32_t units, int32_t projected, int32_t layers,
                               cudnnDropoutDescriptor_t, uint32_t flags) {
    const bool good = direction == CUDNN_UNIDIRECTIONAL && input == CUDNN_LINEAR_INPUT &&
                      precision == CUDNN_DATA_FLOAT && projected == units && layers == 1 &&
                      (flags & CUDNN_RNN_PADDED_IO_ENABLED);
    as<Layer>(d) = {mode, bias, type, inputs, units};
    return good ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM;
  }
  static cudnnStatus_t set_rnn_data(cudnnRNNDataDescriptor_t d, cudnnDataType_t,
                                    cudnnRNNDataLayout_t layout, int steps, int batch, int width,
                                    const int lengths[], void*) {
    if (layout != CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED) return CUDNN_STATUS_BAD_PARAM;
    for (int b = 0; b < batch; ++b)
      if (lengths[b] < 1 || lengths[b] > steps) return CUDNN_STATUS_BAD_PARAM;
    as<Data>(d) = {steps, batch, width, {lengths, lengths + batch}};
    return CUDNN_STATUS_SUCCESS;
  }
  static cudnnStatus_t rnn_weights(cudnnHandle_t, cudnnRNNDescriptor_t d, int32_t, size_t,
                                   const void* base, int32_t id, cudnnTensorDescriptor_t,
                                   void** matrix, cudnnTensorDescriptor_t, void** bias) {
    const Layer& l = as<Layer>(d);
    char* const first = static_cast<char*>(const_cast<void*>(base));
    const auto at = [&](int64_t i) {
      return first + size_t(i + (moved_weights ? 8 : 0)) * l.element();
    };
    const int64_t gate = id % l.gates();
    const bool of_state = id >= l.gates();
    *matrix = at(of_state ? l.recurrent(gate) : l.kernel(gate));
    *bias = l.biases() > (of_state ? 1 : 0) ? at(l.first_bias(id)) : nullptr;
    return CUDNN_STATUS_SUCCESS;
  }

  static double load(const Layer& l, const void* p, int64_t i) {
    return l.type == CUDNN_DATA_FLOAT      ? static_cast<const float*>(p)[i]
           : l.type == CUDNN_DATA_BFLOAT16 ? float(static_cast<const bfloat16*>(p)[i])
                                           : float(static_cast<const float16*>(p)[i]);
  }
  static void store(const Layer& l, void* p, int64_t i, double value) {
    if (l.type == CUDNN_DATA_FLOAT)
      static_cast<float*>(p)[i] = float(value);
    else if (l.type == CUDNN_DATA_BFLOAT16)
      static_cast<bfloat16*>(p)[i] = bfloat16(float(value));
    else
      static_cast<float16*>(p)[i] = float16(float(value));
  }
  static double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

  // Per step of a sequence the reserve has: the gates, the state's product of a Gru's last gate,
  // h and c before the step; then, after the way back, the gates' gradients of the inputs' side and
  // of the state's. The last number is 1 while the way back may still use it.
  static int64_t per_step(const Layer& l) { return l.units * (3 * l.gates() + 3); }
  static int64_t reserve_of(const Layer& l, const Data& x) {
    return per_step(l) * x.batch * x.steps + 1;
  }

  /// One sum: a row of a gate's matrix times a vector, plus the bias.
  static double product(const Layer& l, const void* w, int64_t matrix, int64_t columns, int64_t row,
                        const std::vector<double>& v) {
    double sum = 0;
    for (int64_t i = 0; i < columns; ++i)
      sum += load(l, w, matrix + row * columns + i) * v[size_t(i)];
    return sum;
  }

  static cudnnStatus_t rnn_forward(cudnnHandle_t, cudnnRNNDescriptor_t d, cudnnForwardMode_t mode,
                                   const int32_t* lengths, cudnnRNNDataDescriptor_t xd,
                                   const void* x, cudnnRNNDataDescriptor_t, void* y,
                                   cudnnTensorDescriptor_t, const void* hx, void* hy,
                                   cudnnTensorDescriptor_t, const void* cx, void* cy, size_t bytes,
                                   const void* w, size_t, void* work, size_t reserve_bytes,
                                   void* reserve) {
    const Layer l = as<Layer>(d);
    const Data data = as<Data>(xd);
    const bool training = mode == CUDNN_FWD_MODE_TRAINING;
    if (lengths || !work || bytes != size_t(l.count()) * l.element()) return CUDNN_STATUS_BAD_PARAM;
    if (training && reserve_bytes < sizeof(double) * size_t(reserve_of(l, data)))
      return CUDNN_STATUS_BAD_PARAM;
    ++forward_calls;
    std::vector<const void*> used{x, y, hx, hy, w, work};
    for (const void* p : std::initializer_list<const void*>{cx, cy, reserve})
      if (p) used.push_back(p);
    const bool taken = FakeCuda::on_stream(stream(), used, [=] {
      double* kept = training ? static_cast<double*>(reserve) : nullptr;
      if (kept) kept[reserve_of(l, data) - 1] = 1;
      for (int b = 0; b < data.batch; ++b) sequence(l, data, b, x, y, hx, hy, cx, cy, w, kept);
    });
    return taken ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_EXECUTION_FAILED;
  }

  static void sequence(const Layer& l, const Data& data, int b, const void* x, void* y,
                       const void* hx, void* hy, const void* cx, void* cy, const void* w,
                       double* kept) {
    const int64_t u = l.units, n = l.inputs, gates = l.gates();
    std::vector<double> h(size_t(u), 0.0), c(size_t(u), 0.0), in(static_cast<size_t>(n));
    for (int64_t j = 0; j < u; ++j) {
      h[size_t(j)] = load(l, hx, b * u + j);
      if (cx) c[size_t(j)] = load(l, cx, b * u + j);
    }
    const auto bias = [&](int64_t i, int64_t j) {
      const int64_t lines = l.biases() * gates;
      return i < lines ? load(l, w, l.first_bias(i) + j) : 0.0;
    };
    for (int t = 0; t < data.steps; ++t) {
      const int64_t step = int64_t(b) * data.steps + t;
      if (t >= data.lengths[size_t(b)]) {
        for (int64_t j = 0; j < u; ++j) store(l, y, step * u + j, 0);
        continue;
      }
      for (int64_t i = 0; i < n; ++i) in[size_t(i)] = load(l, x, step * n + i);
      std::vector<double> a(size_t(gates * u)), s(size_t(gates * u));
      for (int64_t g = 0; g < gates; ++g)
        for (int64_t j = 0; j < u; ++j) {
          a[size_t(g * u + j)] = product(l, w, l.kernel(g), n, j, in) + bias(g, j);
          s[size_t(g * u + j)] = product(l, w, l.recurrent(g), u, j, h) + bias(gates + g, j);
        }
      std::vector<double> before = h, before_c = c, act(size_t(gates * u));
      for (int64_t j = 0; j < u; ++j) {
        const auto at = [&](int64_t g) { return size_t(g * u + j); };
        if (l.mode == CUDNN_RNN_TANH) {
          h[size_t(j)] = act[at(0)] = std::tanh(a[at(0)] + s[at(0)]);
        } else if (l.mode == CUDNN_LSTM) {  // i, f, c, o
          for (int64_t g : {0, 1, 3}) act[at(g)] = sigmoid(a[at(g)] + s[at(g)]);
          act[at(2)] = std::tanh(a[at(2)] + s[at(2)]);
          c[size_t(j)] = act[at(1)] * c[size_t(j)] + act[at(0)] * act[at(2)];
          h[size_t(j)] = act[at(3)] * std::tanh(c[size_t(j)]);
        } else {  // r, z, h
          for (int64_t g : {0, 1}) act[at(g)] = sigmoid(a[at(g)] + s[at(g)]);
          act[at(2)] = std::tanh(a[at(2)] + act[at(0)] * s[at(2)]);
          h[size_t(j)] = (1 - act[at(1)]) * act[at(2)] + act[at(1)] * before[size_t(j)];
        }
        store(l, y, step * u + j, h[size_t(j)]);
      }
      if (!kept) continue;
      double* to = kept + step * per_step(l);
      std::copy(act.begin(), act.end(), to);
      if (l.mode == CUDNN_GRU) std::copy_n(s.begin() + 2 * u, u, to + gates * u);
      std::copy(before.begin(), before.end(), to + (gates + 1) * u);
      std::copy(before_c.begin(), before_c.end(), to + (gates + 2) * u);
    }
    for (int64_t j = 0; j < u; ++j) {
      store(l, hy, b * u + j, h[size_t(j)]);
      if (cy) store(l, cy, b * u + j, c[size_t(j)]);
    }
  }

  static cudnnStatus_t backward_data(cudnnHandle_t, cudnnRNNDescriptor_t d, const int32_t*,
                                     cudnnRNNDataDescriptor_t, const void* y, const void* dy,
                                     cudnnRNNDataDescriptor_t xd, void* dx, cudnnTensorDescriptor_t,
                                     const void* hx, const void* dhy, void* dhx,
                                     cudnnTensorDescriptor_t, const void* cx, const void* dcy,
                                     void* dcx, size_t, const void* w, size_t, void* work, size_t,
                                     void* reserve) {
    const Layer l = as<Layer>(d);
    const Data data = as<Data>(xd);
    if (!reserve || !work) return CUDNN_STATUS_BAD_PARAM;
    ++backward_calls;
    std::vector<const void*> used{y, dy, dx, hx, dhy, dhx, w, work, reserve};
    for (const void* p : std::initializer_list<const void*>{cx, dcy, dcx})
      if (p) used.push_back(p);
    const bool taken = FakeCuda::on_stream(stream(), used, [=] {
      double* kept = static_cast<double*>(reserve);
      double& fresh = kept[reserve_of(l, data) - 1];
      if (fresh != 1) throw std::logic_error("a reserve that was used up");
      fresh = 2;
      for (int b = 0; b < data.batch; ++b) back(l, data, b, dy, dx, dhy, dhx, dcy, dcx, w, kept);
    });
    return taken ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_EXECUTION_FAILED;
  }

  static void back(const Layer& l, const Data& data, int b, const void* dy, void* dx,
                   const void* dhy, void* dhx, const void* dcy, void* dcx, const void* w,
                   double* kept) {
    const int64_t u = l.units, n = l.inputs, gates = l.gates();
    std::vector<double> dh(static_cast<size_t>(u)), dc(static_cast<size_t>(u));
    for (int64_t j = 0; j < u; ++j) {
      dh[size_t(j)] = load(l, dhy, b * u + j);
      if (dcy) dc[size_t(j)] = load(l, dcy, b * u + j);
    }
    for (int t = data.steps - 1; t >= 0; --t) {
      const int64_t step = int64_t(b) * data.steps + t;
      if (t >= data.lengths[size_t(b)]) {
        for (int64_t i = 0; i < n; ++i) store(l, dx, step * n + i, 0);
        continue;
      }
      double* const place = kept + step * per_step(l);
      const double *act = place, *last = place + gates * u, *h = last + u, *c = h + u;
      double *da = place + (gates + 3) * u, *ds = da + gates * u;
      std::vector<double> before(static_cast<size_t>(u));
      for (int64_t j = 0; j < u; ++j) {
        const double g = dh[size_t(j)] + load(l, dy, step * u + j);
        const auto at = [&](int64_t gate) { return gate * u + j; };
        if (l.mode == CUDNN_RNN_TANH) {
          da[j] = g * (1 - act[j] * act[j]);
        } else if (l.mode == CUDNN_LSTM) {
          const double i = act[at(0)], f = act[at(1)], m = act[at(2)], o = act[at(3)];
          const double squashed = std::tanh(f * c[j] + i * m);
          const double dcell = dc[size_t(j)] + g * o * (1 - squashed * squashed);
          da[at(0)] = dcell * m * i * (1 - i);
          da[at(1)] = dcell * c[j] * f * (1 - f);
          da[at(2)] = dcell * i * (1 - m * m);
          da[at(3)] = g * squashed * o * (1 - o);
          dc[size_t(j)] = dcell * f;
        } else {
          const double r = act[at(0)], z = act[at(1)], m = act[at(2)];
          const double inner = g * (1 - z) * (1 - m * m);
          da[at(0)] = inner * last[j] * r * (1 - r);
          da[at(1)] = g * (h[j] - m) * z * (1 - z);
          da[at(2)] = inner;
          before[size_t(j)] = g * z;
        }
        for (int64_t gate = 0; gate < gates; ++gate) ds[at(gate)] = da[at(gate)];
        if (l.mode == CUDNN_GRU) ds[at(2)] = da[at(2)] * act[at(0)];
      }
      for (int64_t i = 0; i < n; ++i) {
        double sum = 0;
        for (int64_t g = 0; g < gates; ++g)
          for (int64_t j = 0; j < u; ++j)
            sum += da[g * u + j] * load(l, w, l.kernel(g) + j * n + i);
        store(l, dx, step * n + i, sum);
      }
      for (int64_t i = 0; i < u; ++i)
        for (int64_t g = 0; g < gates; ++g)
          for (int64_t j = 0; j < u; ++j)
            before[size_t(i)] += ds[g * u + j] * load(l, w, l.recurrent(g) + j * u + i);
      dh = before;
    }
    for (int64_t j = 0; j < u; ++j) {
      store(l, dhx, b * u + j, dh[size_t(j)]);
      if (dcx) store(l, dcx, b * u + j, dc[size_t(j)]);
    }
  }

  static cudnnStatus_t backward_weights(cudnnHandle_t, cudnnRNNDescriptor_t d,
                                        cudnnWgradMode_t mode, const int32_t*,
                                        cudnnRNNDataDescriptor_t xd, const void* x,
                                        cudnnTensorDescriptor_t, const void* hx,
                                        cudnnRNNDataDescriptor_t, const void* y, size_t, void* dw,
                                        size_t, void* work, size_t, void* reserve) {
    const Layer l = as<Layer>(d);
    const Data data = as<Data>(xd);
    if (mode != CUDNN_WGRAD_MODE_ADD || !reserve) return CUDNN_STATUS_BAD_PARAM;
    const std::vector<const void*> used{x, hx, y, dw, work, reserve};
    const bool taken = FakeCuda::on_stream(stream(), used, [=] {
      double* kept = static_cast<double*>(reserve);
      double& state = kept[reserve_of(l, data) - 1];
      if (state != 2) throw std::logic_error("gradients of weights before those of data");
      state = 3;
      std::vector<double> sums(static_cast<size_t>(l.count()));
      for (int64_t b = 0; b < data.batch; ++b)
        for (int64_t t = 0; t < data.lengths[size_t(b)]; ++t)
          add_step(l, x, b * data.steps + t, kept, sums);
      for (size_t i = 0; i < sums.size(); ++i)
        store(l, dw, int64_t(i), sums[i] + load(l, dw, int64_t(i)));
    });
    return taken ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_EXECUTION_FAILED;
  }

  static void add_step(const Layer& l, const void* x, int64_t step, const double* kept,
                       std::vector<double>& sums) {
    const int64_t u = l.units, n = l.inputs, gates = l.gates();
    const double* const place = kept + step * per_step(l);
    const double *h = place + (gates + 1) * u, *da = place + (gates + 3) * u, *ds = da + gates * u;
    for (int64_t g = 0; g < gates; ++g)
      for (int64_t j = 0; j < u; ++j) {
        for (int64_t i = 0; i < n; ++i)
          sums[size_t(l.kernel(g) + j * n + i)] += da[g * u + j] * load(l, x, step * n + i);
        for (int64_t i = 0; i < u; ++i)
          sums[size_t(l.recurrent(g) + j * u + i)] += ds[g * u + j] * h[i];
        if (l.biases() > 0) sums[size_t(l.first_bias(g) + j)] += da[g * u + j];
        if (l.biases() > 1) sums[size_t(l.first_bias(gates + g) + j)] += ds[g * u + j];
      }
  }
};

}  // namespace

void FakeRnn::fill(cudnn_internal::CudnnTable& t) { RnnFunctions::fill_table(t); }

}  // namespace distribute::testing

#endif
