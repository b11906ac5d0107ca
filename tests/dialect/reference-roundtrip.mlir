// RUN: rt-opt %s | rt-opt | FileCheck %s
// RUN: rt-opt %s --mlir-print-op-generic | rt-opt | FileCheck %s

// CHECK-LABEL: @lookup
func.func @lookup(%table: tensor<?x64xf32>, %half: tensor<?x64xbf16>, %keys: tensor<1x?x64xf32>, %ids: tensor<1x?xi32>) {
  // CHECK: rt.lookup %{{.*}}[%{{.*}}] : tensor<?x64xf32>, tensor<1x?xi32> -> tensor<1x?x64xf32>
  %0 = rt.lookup %table[%ids] : tensor<?x64xf32>, tensor<1x?xi32> -> tensor<1x?x64xf32>
  // CHECK: rt.lookup %{{.*}}[%{{.*}}] : tensor<?x64xbf16>, tensor<1x?xi32> -> tensor<1x?x64xf32>
  %1 = rt.lookup %half[%ids] : tensor<?x64xbf16>, tensor<1x?xi32> -> tensor<1x?x64xf32>
  // CHECK: rt.lookup %{{.*}}[%{{.*}}] : tensor<1x?x64xf32>, tensor<1x?xi32> -> tensor<1x?x64xf32>
  %2 = rt.lookup %keys[%ids] : tensor<1x?x64xf32>, tensor<1x?xi32> -> tensor<1x?x64xf32>
  return
}

// CHECK-LABEL: @scatter_add
func.func @scatter_add(%rows: tensor<1x?x64xf32>, %table: tensor<?x64xf32>, %keys: tensor<1x?x64xf32>, %ids: tensor<1x?xi32>) {
  // CHECK: rt.scatter_add %{{.*}} into %{{.*}}[%{{.*}}] : tensor<1x?x64xf32>, tensor<1x?xi32> -> tensor<?x64xf32>
  %0 = rt.scatter_add %rows into %table[%ids] : tensor<1x?x64xf32>, tensor<1x?xi32> -> tensor<?x64xf32>
  // CHECK: rt.scatter_add %{{.*}} into %{{.*}}[%{{.*}}] : tensor<1x?x64xf32>, tensor<1x?xi32> -> tensor<1x?x64xf32>
  %1 = rt.scatter_add %rows into %keys[%ids] : tensor<1x?x64xf32>, tensor<1x?xi32> -> tensor<1x?x64xf32>
  return
}

// CHECK-LABEL: @distance
func.func @distance(%q: tensor<1x?x64xf32>, %half: tensor<1x?x64xbf16>, %k: tensor<1x?x64xf32>) {
  // CHECK: rt.distance %{{.*}}, %{{.*}} {metric = #rt.metric<l2>} : tensor<1x?x64xf32>, tensor<1x?x64xf32> -> tensor<1x?x?xf32>
  %0 = rt.distance %q, %k {metric = #rt.metric<l2>} : tensor<1x?x64xf32>, tensor<1x?x64xf32> -> tensor<1x?x?xf32>
  // CHECK: rt.distance %{{.*}}, %{{.*}} {precision = #rt.precision<exact>} : tensor<1x?x64xbf16>
  %1 = rt.distance %half, %k {precision = #rt.precision<exact>} : tensor<1x?x64xbf16>, tensor<1x?x64xf32> -> tensor<1x?x?xf32>
  // CHECK: rt.distance %{{.*}}, %{{.*}} : tensor<1x?x64xf32>, tensor<1x?x64xbf16> -> tensor<1x?x?xf32>
  %2 = rt.distance %q, %half : tensor<1x?x64xf32>, tensor<1x?x64xbf16> -> tensor<1x?x?xf32>
  return
}

// CHECK-LABEL: @softmax
func.func @softmax(%d: tensor<1x?x?xf32>, %tau: tensor<f32>, %off: index, %len: tensor<1xi64>) {
  // CHECK: rt.softmax %{{.*}} tau(%{{.*}} : tensor<f32>) : tensor<1x?x?xf32>
  %z, %w = rt.softmax %d tau(%tau : tensor<f32>) : tensor<1x?x?xf32>
  // CHECK: rt.softmax %{{.*}} tau(%{{.*}} : tensor<f32>) offset(%{{.*}}) lengths(%{{.*}} : tensor<1xi64>) {mask = #rt.causal} : tensor<1x?x?xf32>
  %z1, %w1 = rt.softmax %d tau(%tau : tensor<f32>) offset(%off) lengths(%len : tensor<1xi64>) {mask = #rt.causal} : tensor<1x?x?xf32>
  return
}

// CHECK-LABEL: @decay
func.func @decay(%w: tensor<1x?x?xf32>, %g: tensor<5xf32>, %off: index, %len: tensor<1xi64>) {
  // CHECK: rt.decay %{{.*}} by %{{.*}}[1] : tensor<1x?x?xf32>, tensor<5xf32>
  %0 = rt.decay %w by %g[1] {direction = #rt.direction<backward>} : tensor<1x?x?xf32>, tensor<5xf32>
  // CHECK: rt.decay %{{.*}} by %{{.*}}[0] offset(%{{.*}}) lengths(%{{.*}} : tensor<1xi64>) {direction = #rt.direction<forward>, origin = #rt.decay_origin<query>}
  %1 = rt.decay %w by %g[0] offset(%off) lengths(%len : tensor<1xi64>) {direction = #rt.direction<forward>, origin = #rt.decay_origin<query>} : tensor<1x?x?xf32>, tensor<5xf32>
  return
}

// CHECK-LABEL: @reduce
func.func @reduce(%w: tensor<1x?x?xf32>, %k: tensor<1x?x64xf32>) {
  // CHECK: rt.reduce %{{.*}} : tensor<1x?x?xf32> -> tensor<1x?xf32>
  %0 = rt.reduce %w : tensor<1x?x?xf32> -> tensor<1x?xf32>
  // CHECK: rt.reduce %{{.*}} of %{{.*}} {floor = 1.000000e-08 : f64} : tensor<1x?x?xf32>, tensor<1x?x64xf32> -> tensor<1x?x64xf32>
  %1 = rt.reduce %w of %k {floor = 1.0e-8 : f64} : tensor<1x?x?xf32>, tensor<1x?x64xf32> -> tensor<1x?x64xf32>
  return
}

// CHECK-LABEL: @arg_select
func.func @arg_select(%z: tensor<1x?x?xf32>, %w: tensor<1x?x?xf32>) {
  // CHECK: rt.arg_select %{{.*}} {rank = 2 : i64} : tensor<1x?x?xf32> -> tensor<1x?xi32>
  %0 = rt.arg_select %z {rank = 2 : i64} : tensor<1x?x?xf32> -> tensor<1x?xi32>
  // CHECK: rt.arg_select %{{.*}} where(%{{.*}} : tensor<1x?x?xf32>) {order = #rt.order<smallest>} : tensor<1x?x?xf32> -> tensor<1x?xi32>
  %1 = rt.arg_select %z where(%w : tensor<1x?x?xf32>) {order = #rt.order<smallest>} : tensor<1x?x?xf32> -> tensor<1x?xi32>
  return
}

// CHECK-LABEL: @normalize
func.func @normalize(%x: tensor<1x?x66xf32>, %off: index, %len: tensor<1xi64>) {
  // CHECK: rt.normalize %{{.*}} : tensor<1x?x66xf32> -> tensor<1x?xf32>
  %y, %n = rt.normalize %x : tensor<1x?x66xf32> -> tensor<1x?xf32>
  // CHECK: rt.normalize %{{.*}} offset(%{{.*}}) lengths(%{{.*}} : tensor<1xi64>) : tensor<1x?x66xf32> -> tensor<1x?xf32>
  %y1, %n1 = rt.normalize %x offset(%off) lengths(%len : tensor<1xi64>) : tensor<1x?x66xf32> -> tensor<1x?xf32>
  return
}

// CHECK-LABEL: @clear_padding
func.func @clear_padding(%x: tensor<1x?x66xbf16>, %off: index, %len: tensor<1xi64>) {
  // CHECK: rt.clear_padding %{{.*}} lengths(%{{.*}} : tensor<1xi64>) : tensor<1x?x66xbf16>
  %a = rt.clear_padding %x lengths(%len : tensor<1xi64>) : tensor<1x?x66xbf16>
  // CHECK: rt.clear_padding %{{.*}} offset(%{{.*}}) lengths(%{{.*}} : tensor<1xi64>) : tensor<1x?x66xbf16>
  %b = rt.clear_padding %x offset(%off) lengths(%len : tensor<1xi64>) : tensor<1x?x66xbf16>
  return
}
