// RUN: rt-opt %s -split-input-file -verify-diagnostics

func.func @lookup_C1_shape(%t: tensor<9x8xf32>, %ids: tensor<1x4xi32>) {
  // expected-error @+1 {{C1: expected rows with D = 8, got 'tensor<1x4x7xf32>'}}
  %0 = rt.lookup %t[%ids] : tensor<9x8xf32>, tensor<1x4xi32> -> tensor<1x4x7xf32>
  return
}

// -----

func.func @lookup_C1_indices(%t: tensor<9x8xf32>, %ids: tensor<1x4xindex>) {
  // expected-error @+1 {{C1: expected indices of i32 or i64, got 'index'}}
  %0 = rt.lookup %t[%ids] : tensor<9x8xf32>, tensor<1x4xindex> -> tensor<1x4x8xf32>
  return
}

// -----

func.func @lookup_C2(%t: tensor<9x8xf32>, %ids: tensor<1x4xi32>) {
  // expected-error @+1 {{C2: expected rows of 'f32', got 'tensor<1x4x8xf64>'}}
  %0 = rt.lookup %t[%ids] : tensor<9x8xf32>, tensor<1x4xi32> -> tensor<1x4x8xf64>
  return
}

// -----

func.func @scatter_add_C1_shape(%rows: tensor<1x4x8xf32>, %t: tensor<9x7xf32>, %ids: tensor<1x4xi32>) {
  // expected-error @+1 {{C1: expected rows with D = 7, got 'tensor<1x4x8xf32>'}}
  %0 = rt.scatter_add %rows into %t[%ids] : tensor<1x4x8xf32>, tensor<1x4xi32> -> tensor<9x7xf32>
  return
}

// -----

func.func @scatter_add_C1_batch(%rows: tensor<1x4x8xf32>, %t: tensor<2x9x8xf32>, %ids: tensor<1x4xi32>) {
  // expected-error @+1 {{C1: expected indices with B = 2, got 'tensor<1x4xi32>'}}
  %0 = rt.scatter_add %rows into %t[%ids] : tensor<1x4x8xf32>, tensor<1x4xi32> -> tensor<2x9x8xf32>
  return
}

// -----

func.func @scatter_add_C1_indices(%rows: tensor<1x4x8xf32>, %t: tensor<9x8xf32>, %ids: tensor<1x4xi8>) {
  // expected-error @+1 {{C1: expected indices of i32 or i64, got 'i8'}}
  %0 = rt.scatter_add %rows into %t[%ids] : tensor<1x4x8xf32>, tensor<1x4xi8> -> tensor<9x8xf32>
  return
}

// -----

func.func @scatter_add_C2_rows(%rows: tensor<1x4x8xbf16>, %t: tensor<9x8xbf16>, %ids: tensor<1x4xi32>) {
  // expected-error @+1 {{C2: expected rows of f32 or f64, got 'bf16'}}
  %0 = rt.scatter_add %rows into %t[%ids] : tensor<1x4x8xbf16>, tensor<1x4xi32> -> tensor<9x8xbf16>
  return
}

// -----

func.func @scatter_add_C2_init(%rows: tensor<1x4x8xf32>, %t: tensor<9x8xf64>, %ids: tensor<1x4xi32>) {
  // expected-error @+1 {{C2: expected an init of 'f32', got 'tensor<9x8xf64>'}}
  %0 = rt.scatter_add %rows into %t[%ids] : tensor<1x4x8xf32>, tensor<1x4xi32> -> tensor<9x8xf64>
  return
}

// -----

func.func @distance_C1(%q: tensor<1x4x8xf32>, %k: tensor<1x5x8xf32>) {
  // expected-error @+1 {{C1: expected distances with T = 5, got 'tensor<1x4x6xf32>'}}
  %0 = rt.distance %q, %k : tensor<1x4x8xf32>, tensor<1x5x8xf32> -> tensor<1x4x6xf32>
  return
}

// -----

func.func @distance_C2_queries(%q: tensor<1x4x8xbf16>, %k: tensor<1x5x8xf64>) {
  // expected-error @+1 {{C2: expected queries [B, Tq, D] of 'f64', got 'tensor<1x4x8xbf16>'}}
  %0 = rt.distance %q, %k : tensor<1x4x8xbf16>, tensor<1x5x8xf64> -> tensor<1x4x5xf64>
  return
}

// -----

func.func @distance_C2_element(%q: tensor<1x4x8xbf16>, %k: tensor<1x5x8xbf16>) {
  // expected-error @+1 {{C2: expected distances of f32 or f64, got 'bf16'}}
  %0 = rt.distance %q, %k : tensor<1x4x8xbf16>, tensor<1x5x8xbf16> -> tensor<1x4x5xbf16>
  return
}

// -----

func.func @distance_C3(%q: tensor<1x4x8xf32>, %k: tensor<1x5x8xf32>) {
  // expected-error @+1 {{C3: expected the metric sq_l2 or l2, got dot}}
  %0 = rt.distance %q, %k {metric = #rt.metric<dot>} : tensor<1x4x8xf32>, tensor<1x5x8xf32> -> tensor<1x4x5xf32>
  return
}

// -----

func.func @softmax_C1(%d: tensor<1x4x5xf32>, %tau: tensor<f64>) {
  // expected-error @+1 {{C1: expected tau [] of 'f32', got 'tensor<f64>'}}
  %z, %w = rt.softmax %d tau(%tau : tensor<f64>) : tensor<1x4x5xf32>
  return
}

// -----

func.func @softmax_C2(%d: tensor<1x4x5xf32>, %tau: tensor<f32>) {
  // expected-error @+1 {{C2: expected the mask #rt.causal, got #rt.window<2>, which is not supported yet}}
  %z, %w = rt.softmax %d tau(%tau : tensor<f32>) {mask = #rt.window<2>} : tensor<1x4x5xf32>
  return
}

// -----

func.func @decay_C1(%w: tensor<1x4x5xf32>, %g: tensor<1xf32>, %len: tensor<2xi64>) {
  // expected-error @+1 {{C1: expected lengths with B = 1, got 'tensor<2xi64>'}}
  %0 = rt.decay %w by %g[0] lengths(%len : tensor<2xi64>) : tensor<1x4x5xf32>, tensor<1xf32>
  return
}

// -----

func.func @decay_C2(%w: tensor<1x4x5xf32>, %g: tensor<3xf32>) {
  // expected-error @+1 {{C2: expected an index from 0 to 2, got 3}}
  %0 = rt.decay %w by %g[3] : tensor<1x4x5xf32>, tensor<3xf32>
  return
}

// -----

func.func @reduce_C1(%w: tensor<1x4x5xf32>, %k: tensor<1x6x8xf32>) {
  // expected-error @+1 {{C1: expected values with T = 5, got 'tensor<1x6x8xf32>'}}
  %0 = rt.reduce %w of %k : tensor<1x4x5xf32>, tensor<1x6x8xf32> -> tensor<1x4x8xf32>
  return
}

// -----

func.func @reduce_C2_alone(%w: tensor<1x4x5xf32>) {
  // expected-error @+1 {{C2: expected a positive floor, with values}}
  %0 = rt.reduce %w {floor = 1.0e-8 : f64} : tensor<1x4x5xf32> -> tensor<1x4xf32>
  return
}

// -----

func.func @reduce_C2_sign(%w: tensor<1x4x5xf32>, %k: tensor<1x5x8xf32>) {
  // expected-error @+1 {{C2: expected a positive floor, with values}}
  %0 = rt.reduce %w of %k {floor = 0.0 : f64} : tensor<1x4x5xf32>, tensor<1x5x8xf32> -> tensor<1x4x8xf32>
  return
}

// -----

func.func @arg_select_C1(%z: tensor<1x4x5xf32>) {
  // expected-error @+1 {{C1: expected positions [B, Tq] of 'i32', got 'tensor<1x4xi64>'}}
  %0 = rt.arg_select %z : tensor<1x4x5xf32> -> tensor<1x4xi64>
  return
}

// -----

func.func @arg_select_C2(%z: tensor<1x4x5xf32>) {
  // expected-error @+1 {{C2: expected a rank of at least 1, got 0}}
  %0 = rt.arg_select %z {rank = 0 : i64} : tensor<1x4x5xf32> -> tensor<1x4xi32>
  return
}

// -----

func.func @normalize_C1(%x: tensor<1x4x9xf32>) {
  // expected-error @+1 {{C1: expected a norm with Tq = 4, got 'tensor<1x5xf32>'}}
  %y, %n = rt.normalize %x : tensor<1x4x9xf32> -> tensor<1x5xf32>
  return
}

// -----

func.func @clear_padding_C1(%x: tensor<1x4x9xf32>, %len: tensor<2xi64>) {
  // expected-error @+1 {{C1: expected lengths with B = 1, got 'tensor<2xi64>'}}
  %y = rt.clear_padding %x lengths(%len : tensor<2xi64>) : tensor<1x4x9xf32>
  return
}
