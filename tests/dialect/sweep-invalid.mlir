// RUN: rt-opt %s -split-input-file -verify-diagnostics

func.func @init_C1(%b: index) {
  // expected-error @+1 {{C1: expected a channel at index 0 of the list, got #rt.causal}}
  %f, %i = rt.init <score> [#rt.causal] (%b, %b) : tensor<?x?x2xf32>, tensor<?x?x0xi32>
  return
}

// -----

func.func @init_C2(%b: index) {
  // expected-error @+1 {{C2: expected a state with F score = 3, got 'tensor<?x?x2xf32>'}}
  %f, %i = rt.init <score> [#rt.top<1>] (%b, %b) : tensor<?x?x2xf32>, tensor<?x?x1xi32>
  return
}

// -----

func.func @init_C2_element(%b: index) {
  // expected-error @+1 {{C2: expected a state of f32 or f64, got 'bf16'}}
  %f, %i = rt.init <score> [#rt.top<1>] (%b, %b) : tensor<?x?x3xbf16>, tensor<?x?x1xi32>
  return
}

// -----

func.func @score_C1(%d: tensor<1x?x?xf32>, %tau: tensor<f32>, %g: tensor<0xf32>, %c: index, %f: tensor<1x?x2xf32>, %i: tensor<1x?x0xi32>) {
  // expected-error @+1 {{C1: expected a channel at index 0 of the list, got 7}}
  %r:2 = rt.score_sweep [7] ins(%d, %tau, %g : tensor<1x?x?xf32>, tensor<f32>, tensor<0xf32>) at(%c, %c) outs(%f, %i : tensor<1x?x2xf32>, tensor<1x?x0xi32>)
  return
}

// -----

func.func @score_C2(%d: tensor<1x?x?xf64>, %tau: tensor<f32>, %g: tensor<0xf32>, %c: index, %f: tensor<1x?x2xf32>, %i: tensor<1x?x0xi32>) {
  // expected-error @+1 {{C2: expected distances [B, Tq, T] of 'f32', got 'tensor<1x?x?xf64>'}}
  %r:2 = rt.score_sweep [#rt.centroid] ins(%d, %tau, %g : tensor<1x?x?xf64>, tensor<f32>, tensor<0xf32>) at(%c, %c) outs(%f, %i : tensor<1x?x2xf32>, tensor<1x?x0xi32>)
  return
}

// -----

func.func @score_C3(%d: tensor<1x?x?xf32>, %tau: tensor<f32>, %g: tensor<0xf32>, %c: index, %f: tensor<1x?x2xf32>, %i: tensor<1x?x1xi32>) {
  // expected-error @+1 {{C3: expected a state with I score = 0, got 'tensor<1x?x1xi32>'}}
  %r:2 = rt.score_sweep [#rt.centroid] ins(%d, %tau, %g : tensor<1x?x?xf32>, tensor<f32>, tensor<0xf32>) at(%c, %c) outs(%f, %i : tensor<1x?x2xf32>, tensor<1x?x1xi32>)
  return
}

// -----

func.func @score_C4(%d: tensor<1x?x?xf32>, %tau: tensor<f32>, %g: tensor<0xf32>, %c: index, %f: tensor<1x?x2xf32>, %i: tensor<1x?x0xi32>) {
  // expected-error @+1 {{C4: expected the mask #rt.causal, got #rt.window<4>, which is not supported yet}}
  %r:2 = rt.score_sweep [#rt.centroid] ins(%d, %tau, %g : tensor<1x?x?xf32>, tensor<f32>, tensor<0xf32>) at(%c, %c) outs(%f, %i : tensor<1x?x2xf32>, tensor<1x?x0xi32>) {mask = #rt.window<4>}
  return
}

// -----

func.func @reduce_C1(%d: tensor<1x?x?xf32>, %s: tensor<1x?x2xf32>, %tau: tensor<f32>, %g: tensor<0xf32>, %c: index, %f: tensor<1x?x0xf32>, %i: tensor<1x?x0xi32>) {
  // expected-error @+1 {{C1: expected a channel at index 0 of the list, got "centroid"}}
  %r:2 = rt.reduce_sweep ["centroid"] ins(%d, %s, %tau, %g : tensor<1x?x?xf32>, tensor<1x?x2xf32>, tensor<f32>, tensor<0xf32>) at(%c, %c) outs(%f, %i : tensor<1x?x0xf32>, tensor<1x?x0xi32>)
  return
}

// -----

func.func @reduce_C2(%d: tensor<1x?x?xf32>, %s: tensor<1x?x2xf32>, %tau: tensor<1xf32>, %g: tensor<0xf32>, %c: index, %f: tensor<1x?x2xf32>, %i: tensor<1x?x0xi32>) {
  // expected-error @+1 {{C2: expected tau [] of 'f32', got 'tensor<1xf32>'}}
  %r:2 = rt.reduce_sweep [#rt.spread] ins(%d, %s, %tau, %g : tensor<1x?x?xf32>, tensor<1x?x2xf32>, tensor<1xf32>, tensor<0xf32>) at(%c, %c) outs(%f, %i : tensor<1x?x2xf32>, tensor<1x?x0xi32>)
  return
}

// -----

func.func @reduce_C3(%d: tensor<1x?x?xf32>, %s: tensor<1x?x3xf32>, %tau: tensor<f32>, %g: tensor<0xf32>, %c: index, %f: tensor<1x?x2xf32>, %i: tensor<1x?x0xi32>) {
  // expected-error @+1 {{C3: expected a score state with F score = 2, got 'tensor<1x?x3xf32>'}}
  %r:2 = rt.reduce_sweep [#rt.spread] ins(%d, %s, %tau, %g : tensor<1x?x?xf32>, tensor<1x?x3xf32>, tensor<f32>, tensor<0xf32>) at(%c, %c) outs(%f, %i : tensor<1x?x2xf32>, tensor<1x?x0xi32>)
  return
}

// -----

func.func @reduce_C4(%d: tensor<1x?x?xf32>, %s: tensor<1x?x2xf32>, %tau: tensor<f32>, %g: tensor<0xf32>, %c: index, %f: tensor<1x?x2xf32>, %i: tensor<1x?x0xi32>) {
  // expected-error @+1 {{C4: expected the mask #rt.causal, got #rt.window<4>}}
  %r:2 = rt.reduce_sweep [#rt.spread] ins(%d, %s, %tau, %g : tensor<1x?x?xf32>, tensor<1x?x2xf32>, tensor<f32>, tensor<0xf32>) at(%c, %c) outs(%f, %i : tensor<1x?x2xf32>, tensor<1x?x0xi32>) {mask = #rt.window<4>}
  return
}

// -----

func.func @reduce_C5_together(%d: tensor<1x?x?xf32>, %s: tensor<1x?x2xf32>, %tau: tensor<f32>, %g: tensor<0xf32>, %c: index, %f: tensor<1x?x0xf32>, %i: tensor<1x?x0xi32>, %k: tensor<1x?x8xf32>) {
  // expected-error @+1 {{C5: expected keys, initial sums and sums together}}
  %r:2 = rt.reduce_sweep [#rt.centroid] ins(%d, %s, %tau, %g : tensor<1x?x?xf32>, tensor<1x?x2xf32>, tensor<f32>, tensor<0xf32>) keys(%k : tensor<1x?x8xf32>) at(%c, %c) outs(%f, %i : tensor<1x?x0xf32>, tensor<1x?x0xi32>)
  return
}

// -----

func.func @reduce_C5_shape(%d: tensor<1x?x?xf32>, %s: tensor<1x?x2xf32>, %tau: tensor<f32>, %g: tensor<0xf32>, %c: index, %f: tensor<1x?x0xf32>, %i: tensor<1x?x0xi32>, %k: tensor<1x?x8xf32>, %n: tensor<1x2x?x8xf32>) {
  // expected-error @+1 {{C5: expected sums with C = 1, got 'tensor<1x2x?x8xf32>'}}
  %r:3 = rt.reduce_sweep [#rt.centroid] ins(%d, %s, %tau, %g : tensor<1x?x?xf32>, tensor<1x?x2xf32>, tensor<f32>, tensor<0xf32>) keys(%k : tensor<1x?x8xf32>) at(%c, %c) outs(%f, %i : tensor<1x?x0xf32>, tensor<1x?x0xi32>) sums(%n : tensor<1x2x?x8xf32>) -> tensor<1x2x?x8xf32>
  return
}

// -----

func.func @reduce_C1_of(%d: tensor<1x?x?xf32>, %s: tensor<1x?x2xf32>, %tau: tensor<f32>, %g: tensor<0xf32>, %c: index, %f: tensor<1x?x2xf32>, %i: tensor<1x?x0xi32>) {
  // expected-error @+1 {{C1: expected a channel at index 1 of the list, got 3}}
  %r:2 = rt.reduce_sweep [#rt.entropy] of [#rt.spread, 3] ins(%d, %s, %tau, %g : tensor<1x?x?xf32>, tensor<1x?x2xf32>, tensor<f32>, tensor<0xf32>) at(%c, %c) outs(%f, %i : tensor<1x?x2xf32>, tensor<1x?x0xi32>)
  return
}

// -----

func.func @weigh_C1_of(%d: tensor<1x?x?xf32>, %s: tensor<1x?x3xf32>, %tau: tensor<f32>, %g: tensor<1xf32>, %c: index) {
  // expected-error @+1 {{C1: expected the channel #rt.decay<backward, 0> in the list of its state, got [#rt.top<1>]}}
  %w = rt.weigh [#rt.decay<backward, 0>] of [#rt.top<1>] ins(%d, %s, %tau, %g : tensor<1x?x?xf32>, tensor<1x?x3xf32>, tensor<f32>, tensor<1xf32>) at(%c, %c) -> tensor<1x1x?x?xf32>
  return
}

// -----

func.func @weigh_C1(%d: tensor<1x?x?xf32>, %s: tensor<1x?x2xf32>, %tau: tensor<f32>, %g: tensor<0xf32>, %c: index) {
  // expected-error @+1 {{C1: expected a channel at index 0 of the list, got 7}}
  %w = rt.weigh [7] ins(%d, %s, %tau, %g : tensor<1x?x?xf32>, tensor<1x?x2xf32>, tensor<f32>, tensor<0xf32>) at(%c, %c) -> tensor<1x1x?x?xf32>
  return
}

// -----

func.func @weigh_C2(%d: tensor<1x?x?xf32>, %s: tensor<1x?x4xf32>, %tau: tensor<f32>, %g: tensor<0xf32>, %c: index) {
  // expected-error @+1 {{C2: expected a score state with F score = 2, got 'tensor<1x?x4xf32>'}}
  %w = rt.weigh [#rt.centroid] ins(%d, %s, %tau, %g : tensor<1x?x?xf32>, tensor<1x?x4xf32>, tensor<f32>, tensor<0xf32>) at(%c, %c) -> tensor<1x1x?x?xf32>
  return
}

// -----

func.func @weigh_C3(%d: tensor<1x?x?xf32>, %s: tensor<1x?x2xf32>, %tau: tensor<f32>, %g: tensor<0xf32>, %c: index) {
  // expected-error @+1 {{C3: expected weights with C = 1, got 'tensor<1x2x?x?xf32>'}}
  %w = rt.weigh [#rt.centroid] ins(%d, %s, %tau, %g : tensor<1x?x?xf32>, tensor<1x?x2xf32>, tensor<f32>, tensor<0xf32>) at(%c, %c) -> tensor<1x2x?x?xf32>
  return
}

// -----

func.func @weigh_C4(%d: tensor<1x?x?xf32>, %s: tensor<1x?x2xf32>, %tau: tensor<f32>, %g: tensor<0xf32>, %c: index) {
  // expected-error @+1 {{C4: expected the mask #rt.causal, got #rt.window<4>}}
  %w = rt.weigh [#rt.centroid] ins(%d, %s, %tau, %g : tensor<1x?x?xf32>, tensor<1x?x2xf32>, tensor<f32>, tensor<0xf32>) at(%c, %c) {mask = #rt.window<4>} -> tensor<1x1x?x?xf32>
  return
}

// -----

func.func @merge_C1(%f: tensor<1x?x?x2xf32>, %i: tensor<1x?x?x0xi32>) {
  // expected-error @+1 {{C1: expected a channel at index 0 of the list, got 7}}
  %r:2 = rt.merge <score> [7] (%f, %i : tensor<1x?x?x2xf32>, tensor<1x?x?x0xi32>) -> tensor<1x?x2xf32>, tensor<1x?x0xi32>
  return
}

// -----

func.func @merge_C2(%f: tensor<1x?x2xf32>, %i: tensor<1x?x0xi32>) {
  // expected-error @+1 {{C2: expected a state [B, P, Tq, F score] of 'f32', got 'tensor<1x?x2xf32>'}}
  %r:2 = rt.merge <score> [#rt.centroid] (%f, %i : tensor<1x?x2xf32>, tensor<1x?x0xi32>) -> tensor<1x?x2xf32>, tensor<1x?x0xi32>
  return
}

// -----

func.func @finalize_C1(%sf: tensor<1x?x2xf32>, %si: tensor<1x?x0xi32>, %rf: tensor<1x?x0xf32>, %n: tensor<1x1x?x8xf32>, %t: tensor<?x8xf32>, %ids: tensor<1x?xi32>, %tau: tensor<f32>, %g: tensor<0xf32>, %c: index, %y: tensor<1x?x1xf32>, %norm: tensor<1x?xf32>) {
  // expected-error @+1 {{C1: expected the channel #rt.entropy in the list of the sweeps, got [#rt.centroid]}}
  %r:3 = rt.finalize [#rt.entropy] of [#rt.centroid] score(%sf, %si : tensor<1x?x2xf32>, tensor<1x?x0xi32>) reduce(%rf, %si, %n : tensor<1x?x0xf32>, tensor<1x?x0xi32>, tensor<1x1x?x8xf32>) lookup(%t[%ids] : tensor<?x8xf32>, tensor<1x?xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>) at(%c) outs(%y, %norm, %si : tensor<1x?x1xf32>, tensor<1x?xf32>, tensor<1x?x0xi32>)
  return
}

// -----

func.func @finalize_C1_reduced(%sf: tensor<1x?x2xf32>, %si: tensor<1x?x0xi32>, %rf: tensor<1x?x0xf32>, %n: tensor<1x1x?x8xf32>, %t: tensor<?x8xf32>, %ids: tensor<1x?xi32>, %tau: tensor<f32>, %g: tensor<0xf32>, %c: index, %y: tensor<1x?x1xf32>, %norm: tensor<1x?xf32>) {
  // expected-error @+1 {{C1: expected the channel #rt.entropy in the list of its state, got [#rt.centroid]}}
  %r:3 = rt.finalize [#rt.entropy] of [#rt.centroid, #rt.entropy] reduced [#rt.centroid] score(%sf, %si : tensor<1x?x2xf32>, tensor<1x?x0xi32>) reduce(%rf, %si, %n : tensor<1x?x0xf32>, tensor<1x?x0xi32>, tensor<1x1x?x8xf32>) lookup(%t[%ids] : tensor<?x8xf32>, tensor<1x?xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>) at(%c) outs(%y, %norm, %si : tensor<1x?x1xf32>, tensor<1x?xf32>, tensor<1x?x0xi32>)
  return
}

// -----

func.func @finalize_C1_order(%sf: tensor<1x?x4xf32>, %si: tensor<1x?x0xi32>, %rf: tensor<1x?x0xf32>, %n: tensor<1x2x?x8xf32>, %t: tensor<?x8xf32>, %ids: tensor<1x?xi32>, %tau: tensor<f32>, %g: tensor<1xf32>, %c: index, %y: tensor<1x?x8xf32>, %norm: tensor<1x?xf32>) {
  // expected-error @+1 {{C1: expected the weighted channels of [#rt.centroid, #rt.decay<forward, 0>] in their order, that of the sums, got [#rt.decay<forward, 0>, #rt.centroid]}}
  %r:3 = rt.finalize [#rt.centroid] of [#rt.centroid, #rt.decay<forward, 0>] reduced [#rt.decay<forward, 0>, #rt.centroid] score(%sf, %si : tensor<1x?x4xf32>, tensor<1x?x0xi32>) reduce(%rf, %si, %n : tensor<1x?x0xf32>, tensor<1x?x0xi32>, tensor<1x2x?x8xf32>) lookup(%t[%ids] : tensor<?x8xf32>, tensor<1x?xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<1xf32>) at(%c) outs(%y, %norm, %si : tensor<1x?x8xf32>, tensor<1x?xf32>, tensor<1x?x0xi32>)
  return
}

// -----

func.func @finalize_C2(%sf: tensor<1x?x2xf32>, %si: tensor<1x?x0xi32>, %rf: tensor<1x?x0xf32>, %n: tensor<1x2x?x8xf32>, %t: tensor<?x8xf32>, %ids: tensor<1x?xi32>, %tau: tensor<f32>, %g: tensor<0xf32>, %c: index, %y: tensor<1x?x8xf32>, %norm: tensor<1x?xf32>) {
  // expected-error @+1 {{C2: expected sums with C = 1, got 'tensor<1x2x?x8xf32>'}}
  %r:3 = rt.finalize [#rt.centroid] of [#rt.centroid] score(%sf, %si : tensor<1x?x2xf32>, tensor<1x?x0xi32>) reduce(%rf, %si, %n : tensor<1x?x0xf32>, tensor<1x?x0xi32>, tensor<1x2x?x8xf32>) lookup(%t[%ids] : tensor<?x8xf32>, tensor<1x?xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>) at(%c) outs(%y, %norm, %si : tensor<1x?x8xf32>, tensor<1x?xf32>, tensor<1x?x0xi32>)
  return
}

// -----

func.func @finalize_C3(%sf: tensor<1x?x2xf32>, %si: tensor<1x?x0xi32>, %rf: tensor<1x?x0xf32>, %n: tensor<1x1x?x8xf32>, %t: tensor<?x8xf32>, %ids: tensor<1x?xi32>, %tau: tensor<f32>, %g: tensor<0xf32>, %c: index, %y: tensor<1x?x9xf32>, %norm: tensor<1x?xf32>) {
  // expected-error @+1 {{C3: expected signals with S = 8, got 'tensor<1x?x9xf32>'}}
  %r:3 = rt.finalize [#rt.centroid] of [#rt.centroid] score(%sf, %si : tensor<1x?x2xf32>, tensor<1x?x0xi32>) reduce(%rf, %si, %n : tensor<1x?x0xf32>, tensor<1x?x0xi32>, tensor<1x1x?x8xf32>) lookup(%t[%ids] : tensor<?x8xf32>, tensor<1x?xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>) at(%c) outs(%y, %norm, %si : tensor<1x?x9xf32>, tensor<1x?xf32>, tensor<1x?x0xi32>)
  return
}
