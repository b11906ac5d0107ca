// RUN: rt-opt %s | rt-opt | FileCheck %s
// RUN: rt-opt %s --mlir-print-op-generic | rt-opt | FileCheck %s
// The channels [centroid, decay, top, entropy] save 5 floats, prepare 18 row
// fields and keep 4 accumulators.

// CHECK-LABEL: @attend_grad
func.func @attend_grad(%q: tensor<2x?x8xf32>, %t: tensor<?x8xf32>, %ids: tensor<2x?xi32>, %tau: tensor<f32>, %g: tensor<1xf32>, %off: index, %len: tensor<2xi64>, %y: tensor<2x?x25xf32>, %n: tensor<2x?xf32>, %x: tensor<2x?x1xi32>, %l: tensor<2x?x5xf32>) {
  // CHECK: rt.attend_grad [#rt.centroid, #rt.decay<backward, 0>, #rt.top<1>, #rt.entropy]
  // CHECK-SAME: offset(%{{.*}}) lengths(%{{.*}}) saved({{.*}}) gradient({{.*}}) {metric = #rt.metric<l2>}
  %dq, %dt, %dtau, %dg = rt.attend_grad [#rt.centroid, #rt.decay<backward, 0>, #rt.top<1>, #rt.entropy]
    queries(%q : tensor<2x?x8xf32>) lookup(%t[%ids] : tensor<?x8xf32>, tensor<2x?xi32>)
    tau(%tau : tensor<f32>) gammas(%g : tensor<1xf32>) offset(%off) lengths(%len : tensor<2xi64>)
    saved(%y, %n, %x, %l : tensor<2x?x25xf32>, tensor<2x?xf32>, tensor<2x?x1xi32>, tensor<2x?x5xf32>)
    gradient(%y : tensor<2x?x25xf32>) {metric = #rt.metric<l2>}
    -> tensor<2x?x8xf32>, tensor<?x8xf32>, tensor<f32>, tensor<1xf32>
  return
}

// CHECK-LABEL: @sweeps
func.func @sweeps(%d: tensor<1x?x?xf32>, %q: tensor<1x?x8xf32>, %k: tensor<1x?x8xf32>, %tau: tensor<f32>, %g: tensor<1xf32>, %c0: index, %T: index, %y: tensor<1x?x25xf32>, %n: tensor<1x?xf32>, %x: tensor<1x?x1xi32>, %l: tensor<1x?x5xf32>, %a: tensor<1x?x4xf32>, %s: tensor<1x?x8xf32>, %p: tensor<1x?x2xf32>, %w: tensor<1x2x?x?xf32>, %len: tensor<1xi64>) {
  // CHECK: %[[ROWS:.*]], %[[STACK:.*]] = rt.grad_rows {{.*}} at(%{{.*}}) of %{{.*}} -> tensor<1x?x18xf32>, tensor<1x2x?x8xf32>
  %rows, %stack = rt.grad_rows [#rt.centroid, #rt.decay<backward, 0>, #rt.top<1>, #rt.entropy]
    (%y, %n, %l, %y : tensor<1x?x25xf32>, tensor<1x?xf32>, tensor<1x?x5xf32>, tensor<1x?x25xf32>)
    tau(%tau : tensor<f32>) gammas(%g : tensor<1xf32>) at(%c0) of %T -> tensor<1x?x18xf32>, tensor<1x2x?x8xf32>
  // CHECK: rt.query_grad_sweep {{.*}} ins(%{{.*}}, %[[ROWS]], %[[STACK]], %{{.*}}
  %f, %sums = rt.query_grad_sweep [#rt.centroid, #rt.decay<backward, 0>, #rt.top<1>, #rt.entropy]
    ins(%d, %rows, %stack, %k : tensor<1x?x?xf32>, tensor<1x?x18xf32>, tensor<1x2x?x8xf32>, tensor<1x?x8xf32>)
    tau(%tau : tensor<f32>) gammas(%g : tensor<1xf32>) at(%c0, %c0) outs(%a, %s : tensor<1x?x4xf32>, tensor<1x?x8xf32>)
  // CHECK: rt.query_grad {{.*}} outs(
  %dq, %parts = rt.query_grad [#rt.centroid, #rt.decay<backward, 0>, #rt.top<1>, #rt.entropy]
    (%f, %sums, %rows : tensor<1x?x4xf32>, tensor<1x?x8xf32>, tensor<1x?x18xf32>)
    tau(%tau : tensor<f32>) gammas(%g : tensor<1xf32>) at(%c0) of %T outs(%q, %p : tensor<1x?x8xf32>, tensor<1x?x2xf32>)
  // CHECK: rt.parameter_grad %{{.*}} : tensor<1x?x2xf32> -> tensor<f32>, tensor<1xf32>
  %dtau, %dg = rt.parameter_grad %parts : tensor<1x?x2xf32> -> tensor<f32>, tensor<1xf32>
  // CHECK: rt.key_grad_sweep {{.*}} copies(
  %ks = rt.key_grad_sweep [#rt.centroid, #rt.decay<backward, 0>, #rt.top<1>, #rt.entropy]
    ins(%d, %rows, %stack, %q : tensor<1x?x?xf32>, tensor<1x?x18xf32>, tensor<1x2x?x8xf32>, tensor<1x?x8xf32>)
    copies(%y, %y, %x : tensor<1x?x25xf32>, tensor<1x?x25xf32>, tensor<1x?x1xi32>)
    tau(%tau : tensor<f32>) gammas(%g : tensor<1xf32>) at(%c0, %c0) outs(%s : tensor<1x?x8xf32>)
  // CHECK: rt.key_grad [
  %dk = rt.key_grad [#rt.centroid, #rt.decay<backward, 0>, #rt.top<1>, #rt.entropy] (%ks : tensor<1x?x8xf32>) tau(%tau : tensor<f32>) gammas(%g : tensor<1xf32>) at(%c0) of %T outs(%k : tensor<1x?x8xf32>)
  // CHECK: rt.sum_differences <key>(
  %dd = rt.sum_differences <key> (%d, %q, %k : tensor<1x?x?xf32>, tensor<1x?x8xf32>, tensor<1x?x8xf32>) near(%d : tensor<1x?x?xf32>) outs(%s : tensor<1x?x8xf32>)
  // With accumulators and without; whether keys have lengths is apart from that.
  // CHECK: %{{.*}}, %{{.*}}, %{{.*}} = rt.weigh_grad [
  // CHECK-SAME: at({{[^)]*}}) outs(%{{.*}} : tensor<1x?x4xf32>) -> tensor<1x?x4xf32>
  %w0, %c, %f1 = rt.weigh_grad [#rt.centroid, #rt.decay<backward, 0>, #rt.top<1>, #rt.entropy]
    ins(%d, %rows, %w : tensor<1x?x?xf32>, tensor<1x?x18xf32>, tensor<1x2x?x?xf32>)
    tau(%tau : tensor<f32>) gammas(%g : tensor<1xf32>) at(%c0, %c0) outs(%a : tensor<1x?x4xf32>) -> tensor<1x?x4xf32>
  // CHECK: %{{.*}}, %{{.*}} = rt.weigh_grad [{{[^]]*}}] ins({{[^)]*}}) tau({{[^)]*}}) gammas({{[^)]*}}) at({{[^)]*}}) {metric = #rt.metric<l2>}{{$}}
  %w1, %c1 = rt.weigh_grad [#rt.centroid, #rt.decay<backward, 0>, #rt.top<1>, #rt.entropy]
    ins(%d, %rows, %w : tensor<1x?x?xf32>, tensor<1x?x18xf32>, tensor<1x2x?x?xf32>)
    tau(%tau : tensor<f32>) gammas(%g : tensor<1xf32>) at(%c0, %c0) {metric = #rt.metric<l2>}
  // CHECK: %{{.*}}, %{{.*}} = rt.weigh_grad [
  // CHECK-SAME: lengths(%{{.*}} : tensor<1xi64>){{$}}
  %w2, %c2 = rt.weigh_grad [#rt.centroid, #rt.decay<backward, 0>, #rt.top<1>, #rt.entropy]
    ins(%d, %rows, %w : tensor<1x?x?xf32>, tensor<1x?x18xf32>, tensor<1x2x?x?xf32>)
    tau(%tau : tensor<f32>) gammas(%g : tensor<1xf32>) at(%c0, %c0) lengths(%len : tensor<1xi64>)
  // CHECK: rt.copy_grad {{.*}} at(%{{.*}}) outs(
  %s1 = rt.copy_grad [#rt.centroid, #rt.decay<backward, 0>, #rt.top<1>, #rt.entropy]
    (%rows, %y, %y, %x : tensor<1x?x18xf32>, tensor<1x?x25xf32>, tensor<1x?x25xf32>, tensor<1x?x1xi32>) at(%c0)
    outs(%s : tensor<1x?x8xf32>)
  return
}
