#pragma once
#include <distribute/base/detail/simd_math.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/ops/detail/recurrent_cells.hpp>
#include <distribute/ops/detail/unary_rows.hpp>

namespace distribute::ops_internal {

DISTRIBUTE_INLINE void simple_cell(const CellRow& row) {
  simd_call([r = row]() DISTRIBUTE_ALWAYS_INLINE {
    float *gates = r.gates, *h = r.next_h;
    const float* hz = r.hz;
#pragma omp simd
    for (int64_t j = 0; j < r.units; ++j) gates[j] = h[j] = simd_math::tanh(gates[j] + hz[j]);
  });
}

DISTRIBUTE_INLINE void lstm_cell(const CellRow& row) {
  simd_call([r = row]() DISTRIBUTE_ALWAYS_INLINE {
    const int64_t n = r.units;
    float *zi = r.gates, *zf = zi + n, *zg = zf + n, *zo = zg + n, *h = r.next_h, *next = r.next_c;
    const float *hi = r.hz, *hf = hi + n, *hg = hf + n, *ho = hg + n, *c = r.c;
#pragma omp simd
    for (int64_t j = 0; j < n; ++j) {
      const float i = sigmoid_of(zi[j] + hi[j]), f = sigmoid_of(zf[j] + hf[j]);
      const float g = simd_math::tanh(zg[j] + hg[j]), o = sigmoid_of(zo[j] + ho[j]);
      const float cell = f * c[j] + i * g;
      zi[j] = i, zf[j] = f, zg[j] = g, zo[j] = o;
      next[j] = cell;
      h[j] = o * simd_math::tanh(cell);
    }
  });
}

DISTRIBUTE_INLINE void gru_cell(const CellRow& row) {
  simd_call([r = row]() DISTRIBUTE_ALWAYS_INLINE {
    const int64_t n = r.units;
    float *zz = r.gates, *zr = zz + n, *zh = zr + n, *next = r.next_h, *kept = r.kept;
    const float *hz = r.hz, *hr = hz + n, *hh = hr + n, *h = r.h;
#pragma omp simd
    for (int64_t j = 0; j < n; ++j) {
      const float z = sigmoid_of(zz[j] + hz[j]), reset = sigmoid_of(zr[j] + hr[j]);
      const float candidate = simd_math::tanh(zh[j] + reset * hh[j]);
      zz[j] = z, zr[j] = reset, zh[j] = candidate, kept[j] = hh[j];
      next[j] = z * h[j] + (1 - z) * candidate;
    }
  });
}

DISTRIBUTE_INLINE void simple_cell_gradient(const CellGradientRow& row) {
  simd_call([r = row]() DISTRIBUTE_ALWAYS_INLINE {
    const float *h = r.gates, *dh = r.dh;
    float *dz = r.dz, *direct = r.direct;
#pragma omp simd
    for (int64_t j = 0; j < r.units; ++j) {
      dz[j] = dh[j] * (1 - h[j] * h[j]);
      direct[j] = 0;
    }
  });
}

DISTRIBUTE_INLINE void lstm_cell_gradient(const CellGradientRow& row) {
  simd_call([r = row]() DISTRIBUTE_ALWAYS_INLINE {
    const int64_t n = r.units;
    const float *vi = r.gates, *vf = vi + n, *vg = vf + n, *vo = vg + n, *c = r.c, *dh = r.dh;
    float *di = r.dz, *df = di + n, *dg = df + n, *d_o = dg + n, *dc = r.dc, *direct = r.direct;
#pragma omp simd
    for (int64_t j = 0; j < n; ++j) {
      const float i = vi[j], f = vf[j], g = vg[j], o = vo[j];
      const float active = simd_math::tanh(f * c[j] + i * g);
      const float cell = dc[j] + dh[j] * o * (1 - active * active);
      di[j] = cell * g * i * (1 - i);
      df[j] = cell * c[j] * f * (1 - f);
      dg[j] = cell * i * (1 - g * g);
      d_o[j] = dh[j] * active * o * (1 - o);
      dc[j] = cell * f;
      direct[j] = 0;
    }
  });
}

DISTRIBUTE_INLINE void gru_cell_gradient(const CellGradientRow& row) {
  simd_call([r = row]() DISTRIBUTE_ALWAYS_INLINE {
    const int64_t n = r.units;
    const float *vz = r.gates, *vr = vz + n, *vh = vr + n, *h = r.h, *kept = r.kept, *dh = r.dh;
    float *dz = r.dz, *dr = dz + n, *dc = dr + n, *direct = r.direct;
    float *rz = r.dhz, *rr = rz + n, *rc = rr + n;
#pragma omp simd
    for (int64_t j = 0; j < n; ++j) {
      const float z = vz[j], reset = vr[j], candidate = vh[j], d = dh[j];
      const float update = d * (h[j] - candidate) * z * (1 - z);
      const float inner = d * (1 - z) * (1 - candidate * candidate);
      const float gate = inner * kept[j] * reset * (1 - reset);
      dz[j] = rz[j] = update;
      dr[j] = rr[j] = gate;
      dc[j] = inner;
      rc[j] = inner * reset;
      direct[j] = d * z;
    }
  });
}

}  // namespace distribute::ops_internal
