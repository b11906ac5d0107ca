// RUN: rt-opt %s -split-input-file -verify-diagnostics

func.func @distinct_C1(%ids: tensor<2x?xi16>, %v: index) {
  // expected-error @+1 {{C1: expected ids of i32 or i64, got 'i16'}}
  %r:3 = rt.distinct %ids of %v : tensor<2x?xi16> -> tensor<2x?xi32>, tensor<2x?xi16>, tensor<?xi32>
  return
}

// -----

func.func @distinct_C1_seen(%ids: tensor<2x7xi32>, %v: index) {
  // expected-error @+1 {{C1: expected seen with T = 7, got 'tensor<2xi32>'}}
  %r:3 = rt.distinct %ids of %v : tensor<2x7xi32> -> tensor<2x7xi32>, tensor<2x7xi32>, tensor<2xi32>
  return
}

// -----

func.func @fold_keys_C1(%slots: tensor<?x?xi32>, %g: tensor<1xf32>, %i: index, %p: tensor<?x2x?xi32>, %m: tensor<?x2x?xf32>) {
  // expected-error @+1 {{C1: expected a gamma index of decay from 0 to 0, got 1}}
  %r:2 = rt.fold_keys [#rt.decay<backward, 1>] ins(%slots, %g : tensor<?x?xi32>, tensor<1xf32>) from %i to %i outs(%p, %m : tensor<?x2x?xi32>, tensor<?x2x?xf32>)
  return
}

// -----

// Two of a token's positions may be the two nearest keys; the last one stands
// behind them.
func.func @fold_keys_C2_positions(%slots: tensor<?x?xi32>, %g: tensor<0xf32>, %i: index, %p: tensor<?x2x?xi32>, %m: tensor<?x1x?xf32>) {
  // expected-error @+1 {{C2: expected positions with K = 3, got 'tensor<?x2x?xi32>'}}
  %r:2 = rt.fold_keys [#rt.top<2>] ins(%slots, %g : tensor<?x?xi32>, tensor<0xf32>) from %i to %i outs(%p, %m : tensor<?x2x?xi32>, tensor<?x1x?xf32>)
  return
}

// -----

func.func @fold_keys_C2_masses(%slots: tensor<?x?xi32>, %g: tensor<1xf32>, %i: index, %p: tensor<?x2x?xi32>, %m: tensor<?x1x?xf32>) {
  // expected-error @+1 {{C2: expected masses with M = 2, got 'tensor<?x1x?xf32>'}}
  %r:2 = rt.fold_keys [#rt.decay<forward, 0>] ins(%slots, %g : tensor<?x?xi32>, tensor<1xf32>) from %i to %i outs(%p, %m : tensor<?x2x?xi32>, tensor<?x1x?xf32>)
  return
}

// -----

func.func @score_sweep_C6(%d: tensor<1x?x?xf32>, %tau: tensor<f32>, %g: tensor<0xf32>, %i: index, %m: tensor<1x1x?xf32>, %f: tensor<1x?x2xf32>, %p: tensor<1x?x0xi32>) {
  // expected-error @+1 {{C6: expected positions without lengths, and masses with positions only}}
  %r:2 = rt.score_sweep [] ins(%d, %tau, %g : tensor<1x?x?xf32>, tensor<f32>, tensor<0xf32>) at(%i, %i) masses(%m : tensor<1x1x?xf32>) outs(%f, %p : tensor<1x?x2xf32>, tensor<1x?x0xi32>)
  return
}

// -----

func.func @score_sweep_C6_once(%d: tensor<1x?x?xf32>, %tau: tensor<f32>, %g: tensor<0xf32>, %i: index, %at: tensor<1x2x?xi32>, %f: tensor<1x?x2xf32>, %p: tensor<1x?x0xi32>) {
  // expected-error @+1 {{C6: expected positions with K = 1, got 'tensor<1x2x?xi32>'}}
  %r:2 = rt.score_sweep [] ins(%d, %tau, %g : tensor<1x?x?xf32>, tensor<f32>, tensor<0xf32>) at(%i, %i) positions(%at : tensor<1x2x?xi32>) outs(%f, %p : tensor<1x?x2xf32>, tensor<1x?x0xi32>)
  return
}

// -----

// Masses are those that the list of the score state has.
func.func @weigh_C6(%d: tensor<1x?x?xf32>, %s: tensor<1x?x4xf32>, %tau: tensor<f32>, %g: tensor<1xf32>, %i: index, %at: tensor<1x2x?xi32>, %m: tensor<1x1x?xf32>) {
  // expected-error @+1 {{C6: expected masses with M = 2, got 'tensor<1x1x?xf32>'}}
  %w = rt.weigh [#rt.centroid] of [#rt.decay<backward, 0>] ins(%d, %s, %tau, %g : tensor<1x?x?xf32>, tensor<1x?x4xf32>, tensor<f32>, tensor<1xf32>) at(%i, %i) positions(%at : tensor<1x2x?xi32>) masses(%m : tensor<1x1x?xf32>) -> tensor<1x1x?x?xf32>
  return
}
