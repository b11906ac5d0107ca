// RUN: rt-opt %s -split-input-file -verify-diagnostics

// C1: a table of the queries' type.
func.func @c1_table(%q: tensor<2x8x4xf32>, %t: tensor<9x4xf32>, %ids: tensor<2x8xi32>, %tau: tensor<f32>, %g: tensor<1xf32>, %y: tensor<2x8x4xf32>, %n: tensor<2x8xf32>, %x: tensor<2x8x0xi32>, %l: tensor<2x8x2xf32>, %t2: tensor<9x4xf64>) {
  // expected-error @+1 {{C1: expected a table [V, D] of 'f32', got 'tensor<9x4xf64>'}}
  %r:4 = rt.attend_grad [#rt.centroid] queries(%q : tensor<2x8x4xf32>) lookup(%t2[%ids] : tensor<9x4xf64>, tensor<2x8xi32>)
    tau(%tau : tensor<f32>) gammas(%g : tensor<1xf32>) saved(%y, %n, %x, %l : tensor<2x8x4xf32>, tensor<2x8xf32>, tensor<2x8x0xi32>, tensor<2x8x2xf32>) gradient(%y : tensor<2x8x4xf32>) -> tensor<2x8x4xf32>, tensor<9x4xf32>, tensor<f32>, tensor<1xf32>
  return
}

// -----

// C2: at least one channel.
func.func @c2_empty(%q: tensor<2x8x4xf32>, %t: tensor<9x4xf32>, %ids: tensor<2x8xi32>, %tau: tensor<f32>, %g: tensor<1xf32>, %y: tensor<2x8x4xf32>, %n: tensor<2x8xf32>, %x: tensor<2x8x0xi32>, %l: tensor<2x8x2xf32>) {
  // expected-error @+1 {{C2: expected at least one channel, got none}}
  %r:4 = rt.attend_grad [] queries(%q : tensor<2x8x4xf32>) lookup(%t[%ids] : tensor<9x4xf32>, tensor<2x8xi32>)
    tau(%tau : tensor<f32>) gammas(%g : tensor<1xf32>) saved(%y, %n, %x, %l : tensor<2x8x4xf32>, tensor<2x8xf32>, tensor<2x8x0xi32>, tensor<2x8x2xf32>) gradient(%y : tensor<2x8x4xf32>) -> tensor<2x8x4xf32>, tensor<9x4xf32>, tensor<f32>, tensor<1xf32>
  return
}

// -----

// C2: the channels fit the gammas.
func.func @c2_gamma(%q: tensor<2x8x4xf32>, %t: tensor<9x4xf32>, %ids: tensor<2x8xi32>, %tau: tensor<f32>, %g: tensor<1xf32>, %y: tensor<2x8x4xf32>, %n: tensor<2x8xf32>, %x: tensor<2x8x0xi32>, %l: tensor<2x8x2xf32>) {
  // expected-error @+1 {{C2: expected a gamma index of decay from 0 to 0, got 3}}
  %r:4 = rt.attend_grad [#rt.decay<backward, 3>] queries(%q : tensor<2x8x4xf32>) lookup(%t[%ids] : tensor<9x4xf32>, tensor<2x8xi32>)
    tau(%tau : tensor<f32>) gammas(%g : tensor<1xf32>) saved(%y, %n, %x, %l : tensor<2x8x4xf32>, tensor<2x8xf32>, tensor<2x8x0xi32>, tensor<2x8x2xf32>) gradient(%y : tensor<2x8x4xf32>) -> tensor<2x8x4xf32>, tensor<9x4xf32>, tensor<f32>, tensor<1xf32>
  return
}

// -----

// C3: log-sums as the channels demand.
func.func @c3_log_sums(%q: tensor<2x8x4xf32>, %t: tensor<9x4xf32>, %ids: tensor<2x8xi32>, %tau: tensor<f32>, %g: tensor<1xf32>, %y: tensor<2x8x4xf32>, %n: tensor<2x8xf32>, %x: tensor<2x8x0xi32>, %l: tensor<2x8x2xf32>) {
  // expected-error @+1 {{C3: expected log_sums with L = 4, got 'tensor<2x8x2xf32>'}}
  %r:4 = rt.attend_grad [#rt.decay<backward, 0>] queries(%q : tensor<2x8x4xf32>) lookup(%t[%ids] : tensor<9x4xf32>, tensor<2x8xi32>)
    tau(%tau : tensor<f32>) gammas(%g : tensor<1xf32>) saved(%y, %n, %x, %l : tensor<2x8x4xf32>, tensor<2x8xf32>, tensor<2x8x0xi32>, tensor<2x8x2xf32>) gradient(%y : tensor<2x8x4xf32>) -> tensor<2x8x4xf32>, tensor<9x4xf32>, tensor<f32>, tensor<1xf32>
  return
}

// -----

// C3: signals as the channels demand.
func.func @c3_signals(%q: tensor<2x8x4xf32>, %t: tensor<9x4xf32>, %ids: tensor<2x8xi32>, %tau: tensor<f32>, %g: tensor<1xf32>, %y: tensor<2x8x4xf32>, %n: tensor<2x8xf32>, %x: tensor<2x8x0xi32>, %l: tensor<2x8x2xf32>) {
  // expected-error @+1 {{C3: expected signals with S = 5, got 'tensor<2x8x4xf32>'}}
  %r:4 = rt.attend_grad [#rt.centroid, #rt.spread] queries(%q : tensor<2x8x4xf32>) lookup(%t[%ids] : tensor<9x4xf32>, tensor<2x8xi32>)
    tau(%tau : tensor<f32>) gammas(%g : tensor<1xf32>) saved(%y, %n, %x, %l : tensor<2x8x4xf32>, tensor<2x8xf32>, tensor<2x8x0xi32>, tensor<2x8x2xf32>) gradient(%y : tensor<2x8x4xf32>) -> tensor<2x8x4xf32>, tensor<9x4xf32>, tensor<f32>, tensor<1xf32>
  return
}

// -----

// C4: gradients of the inputs' shapes.
func.func @c4_result(%q: tensor<2x8x4xf32>, %t: tensor<9x4xf32>, %ids: tensor<2x8xi32>, %tau: tensor<f32>, %g: tensor<1xf32>, %y: tensor<2x8x4xf32>, %n: tensor<2x8xf32>, %x: tensor<2x8x0xi32>, %l: tensor<2x8x2xf32>) {
  // expected-error @+1 {{C4: expected gradients with V = 9, got 'tensor<8x4xf32>'}}
  %r:4 = rt.attend_grad [#rt.centroid] queries(%q : tensor<2x8x4xf32>) lookup(%t[%ids] : tensor<9x4xf32>, tensor<2x8xi32>)
    tau(%tau : tensor<f32>) gammas(%g : tensor<1xf32>) saved(%y, %n, %x, %l : tensor<2x8x4xf32>, tensor<2x8xf32>, tensor<2x8x0xi32>, tensor<2x8x2xf32>) gradient(%y : tensor<2x8x4xf32>) -> tensor<2x8x4xf32>, tensor<8x4xf32>, tensor<f32>, tensor<1xf32>
  return
}

// -----

// C5: the causal mask.
func.func @c5_mask(%q: tensor<2x8x4xf32>, %t: tensor<9x4xf32>, %ids: tensor<2x8xi32>, %tau: tensor<f32>, %g: tensor<1xf32>, %y: tensor<2x8x4xf32>, %n: tensor<2x8xf32>, %x: tensor<2x8x0xi32>, %l: tensor<2x8x2xf32>) {
  // expected-error @+1 {{C5: expected the mask #rt.causal, got #rt.window<8>, which is not supported yet}}
  %r:4 = rt.attend_grad [#rt.centroid] queries(%q : tensor<2x8x4xf32>) lookup(%t[%ids] : tensor<9x4xf32>, tensor<2x8xi32>)
    tau(%tau : tensor<f32>) gammas(%g : tensor<1xf32>) saved(%y, %n, %x, %l : tensor<2x8x4xf32>, tensor<2x8xf32>, tensor<2x8x0xi32>, tensor<2x8x2xf32>) gradient(%y : tensor<2x8x4xf32>) {mask = #rt.window<8>} -> tensor<2x8x4xf32>, tensor<9x4xf32>, tensor<f32>, tensor<1xf32>
  return
}

// -----

// C5: a metric that is a distance.
func.func @c5_metric(%q: tensor<2x8x4xf32>, %t: tensor<9x4xf32>, %ids: tensor<2x8xi32>, %tau: tensor<f32>, %g: tensor<1xf32>, %y: tensor<2x8x4xf32>, %n: tensor<2x8xf32>, %x: tensor<2x8x0xi32>, %l: tensor<2x8x2xf32>) {
  // expected-error @+1 {{C5: expected the metric sq_l2 or l2, got dot}}
  %r:4 = rt.attend_grad [#rt.centroid] queries(%q : tensor<2x8x4xf32>) lookup(%t[%ids] : tensor<9x4xf32>, tensor<2x8xi32>)
    tau(%tau : tensor<f32>) gammas(%g : tensor<1xf32>) saved(%y, %n, %x, %l : tensor<2x8x4xf32>, tensor<2x8xf32>, tensor<2x8x0xi32>, tensor<2x8x2xf32>) gradient(%y : tensor<2x8x4xf32>) {metric = #rt.metric<dot>} -> tensor<2x8x4xf32>, tensor<9x4xf32>, tensor<f32>, tensor<1xf32>
  return
}

// -----

// C1 of rt.grad_rows: operands agree.
func.func @rows_c1(%d: tensor<1x?x?xf32>, %rows: tensor<1x?x9xf32>, %stack: tensor<1x1x?x4xf32>, %k: tensor<1x?x4xf32>, %tau: tensor<f32>, %g: tensor<0xf32>, %c0: index, %f: tensor<1x?x2xf32>, %s: tensor<1x?x4xf32>, %b: tensor<1x?x1xf32>, %y: tensor<1x?x4xf32>, %n: tensor<1x?xf32>, %l: tensor<1x?x2xf32>, %p: tensor<1x?x1xf32>, %x: tensor<1x?x0xi32>, %w: tensor<1x1x?x?xf32>, %bad: tensor<1x?x7xf32>, %bad2: tensor<1x?x7xi32>) {
  // expected-error @+1 {{C1: expected log_sums with L = 2, got 'tensor<1x?x7xf32>'}}
  %r:2 = rt.grad_rows [#rt.centroid] (%y, %n, %bad, %y : tensor<1x?x4xf32>, tensor<1x?xf32>, tensor<1x?x7xf32>, tensor<1x?x4xf32>) tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>) at(%c0) of %c0 -> tensor<1x?x9xf32>, tensor<1x1x?x4xf32>
  return
}

// -----

// C2 of rt.grad_rows: the fields that the channels demand.
func.func @rows_c2(%d: tensor<1x?x?xf32>, %rows: tensor<1x?x9xf32>, %stack: tensor<1x1x?x4xf32>, %k: tensor<1x?x4xf32>, %tau: tensor<f32>, %g: tensor<0xf32>, %c0: index, %f: tensor<1x?x2xf32>, %s: tensor<1x?x4xf32>, %b: tensor<1x?x1xf32>, %y: tensor<1x?x4xf32>, %n: tensor<1x?xf32>, %l: tensor<1x?x2xf32>, %p: tensor<1x?x1xf32>, %x: tensor<1x?x0xi32>, %w: tensor<1x1x?x?xf32>, %bad: tensor<1x?x7xf32>, %bad2: tensor<1x?x7xi32>) {
  // expected-error @+1 {{C2: expected rows with F = 9, got 'tensor<1x?x7xf32>'}}
  %r:2 = rt.grad_rows [#rt.centroid] (%y, %n, %l, %y : tensor<1x?x4xf32>, tensor<1x?xf32>, tensor<1x?x2xf32>, tensor<1x?x4xf32>) tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>) at(%c0) of %c0 -> tensor<1x?x7xf32>, tensor<1x1x?x4xf32>
  return
}

// -----

// C3 of rt.grad_rows: a list of channels.
func.func @rows_c3(%d: tensor<1x?x?xf32>, %rows: tensor<1x?x9xf32>, %stack: tensor<1x1x?x4xf32>, %k: tensor<1x?x4xf32>, %tau: tensor<f32>, %g: tensor<0xf32>, %c0: index, %f: tensor<1x?x2xf32>, %s: tensor<1x?x4xf32>, %b: tensor<1x?x1xf32>, %y: tensor<1x?x4xf32>, %n: tensor<1x?xf32>, %l: tensor<1x?x2xf32>, %p: tensor<1x?x1xf32>, %x: tensor<1x?x0xi32>, %w: tensor<1x1x?x?xf32>, %bad: tensor<1x?x7xf32>, %bad2: tensor<1x?x7xi32>) {
  // expected-error @+1 {{C3: expected a channel at index 0 of the list, got 1 : i64}}
  %r:2 = rt.grad_rows [1] (%y, %n, %l, %y : tensor<1x?x4xf32>, tensor<1x?xf32>, tensor<1x?x2xf32>, tensor<1x?x4xf32>) tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>) at(%c0) of %c0 -> tensor<1x?x9xf32>, tensor<1x1x?x4xf32>
  return
}

// -----

// C3 of rt.query_grad_sweep: accumulators.
func.func @query_sweep_c3(%d: tensor<1x?x?xf32>, %rows: tensor<1x?x9xf32>, %stack: tensor<1x1x?x4xf32>, %k: tensor<1x?x4xf32>, %tau: tensor<f32>, %g: tensor<0xf32>, %c0: index, %f: tensor<1x?x2xf32>, %s: tensor<1x?x4xf32>, %b: tensor<1x?x1xf32>, %y: tensor<1x?x4xf32>, %n: tensor<1x?xf32>, %l: tensor<1x?x2xf32>, %p: tensor<1x?x1xf32>, %x: tensor<1x?x0xi32>, %w: tensor<1x1x?x?xf32>, %bad: tensor<1x?x7xf32>, %bad2: tensor<1x?x7xi32>) {
  // expected-error @+1 {{C3: expected accumulators with A = 1, got 'tensor<1x?x7xf32>'}}
  %r:2 = rt.query_grad_sweep [#rt.centroid] ins(%d, %rows, %stack, %k : tensor<1x?x?xf32>, tensor<1x?x9xf32>, tensor<1x1x?x4xf32>, tensor<1x?x4xf32>) tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>) at(%c0, %c0) outs(%bad, %s : tensor<1x?x7xf32>, tensor<1x?x4xf32>)
  return
}

// -----

// C4 of rt.query_grad_sweep: the metric.
func.func @query_sweep_c4(%d: tensor<1x?x?xf32>, %rows: tensor<1x?x9xf32>, %stack: tensor<1x1x?x4xf32>, %k: tensor<1x?x4xf32>, %tau: tensor<f32>, %g: tensor<0xf32>, %c0: index, %f: tensor<1x?x2xf32>, %s: tensor<1x?x4xf32>, %b: tensor<1x?x1xf32>, %y: tensor<1x?x4xf32>, %n: tensor<1x?xf32>, %l: tensor<1x?x2xf32>, %p: tensor<1x?x1xf32>, %x: tensor<1x?x0xi32>, %w: tensor<1x1x?x?xf32>, %bad: tensor<1x?x7xf32>, %bad2: tensor<1x?x7xi32>) {
  // expected-error @+1 {{C4: expected the metric sq_l2 or l2, got dot}}
  %r:2 = rt.query_grad_sweep [#rt.centroid] ins(%d, %rows, %stack, %k : tensor<1x?x?xf32>, tensor<1x?x9xf32>, tensor<1x1x?x4xf32>, tensor<1x?x4xf32>) tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>) at(%c0, %c0) outs(%b, %s : tensor<1x?x1xf32>, tensor<1x?x4xf32>) {metric = #rt.metric<dot>}
  return
}

// -----

// C2 of rt.key_grad_sweep: indices of the copies.
func.func @key_sweep_c2(%d: tensor<1x?x?xf32>, %rows: tensor<1x?x9xf32>, %stack: tensor<1x1x?x4xf32>, %k: tensor<1x?x4xf32>, %tau: tensor<f32>, %g: tensor<0xf32>, %c0: index, %f: tensor<1x?x2xf32>, %s: tensor<1x?x4xf32>, %b: tensor<1x?x1xf32>, %y: tensor<1x?x4xf32>, %n: tensor<1x?xf32>, %l: tensor<1x?x2xf32>, %p: tensor<1x?x1xf32>, %x: tensor<1x?x0xi32>, %w: tensor<1x1x?x?xf32>, %bad: tensor<1x?x7xf32>, %bad2: tensor<1x?x7xi32>) {
  // expected-error @+1 {{C2: expected indices with N = 0, got 'tensor<1x?x7xi32>'}}
  %r = rt.key_grad_sweep [#rt.centroid] ins(%d, %rows, %stack, %k : tensor<1x?x?xf32>, tensor<1x?x9xf32>, tensor<1x1x?x4xf32>, tensor<1x?x4xf32>) copies(%y, %y, %bad2 : tensor<1x?x4xf32>, tensor<1x?x4xf32>, tensor<1x?x7xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>) at(%c0, %c0) outs(%s : tensor<1x?x4xf32>)
  return
}

// -----

// C3 of rt.weigh_grad: accumulators before and after, or neither.
func.func @weigh_c3(%d: tensor<1x?x?xf32>, %rows: tensor<1x?x9xf32>, %stack: tensor<1x1x?x4xf32>, %k: tensor<1x?x4xf32>, %tau: tensor<f32>, %g: tensor<0xf32>, %c0: index, %f: tensor<1x?x2xf32>, %s: tensor<1x?x4xf32>, %b: tensor<1x?x1xf32>, %y: tensor<1x?x4xf32>, %n: tensor<1x?xf32>, %l: tensor<1x?x2xf32>, %p: tensor<1x?x1xf32>, %x: tensor<1x?x0xi32>, %w: tensor<1x1x?x?xf32>, %bad: tensor<1x?x7xf32>, %bad2: tensor<1x?x7xi32>) {
  // expected-error @+1 {{C3: expected accumulators and a result of their type, or neither}}
  %r:2 = rt.weigh_grad [#rt.centroid] ins(%d, %rows, %w : tensor<1x?x?xf32>, tensor<1x?x9xf32>, tensor<1x1x?x?xf32>) tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>) at(%c0, %c0) outs(%b : tensor<1x?x1xf32>)
  return
}

// -----

// C3 of rt.weigh_grad: the result has the accumulators' type.
func.func @weigh_c3_type(%d: tensor<1x?x?xf32>, %rows: tensor<1x?x9xf32>, %stack: tensor<1x1x?x4xf32>, %k: tensor<1x?x4xf32>, %tau: tensor<f32>, %g: tensor<0xf32>, %c0: index, %f: tensor<1x?x2xf32>, %s: tensor<1x?x4xf32>, %b: tensor<1x?x1xf32>, %y: tensor<1x?x4xf32>, %n: tensor<1x?xf32>, %l: tensor<1x?x2xf32>, %p: tensor<1x?x1xf32>, %x: tensor<1x?x0xi32>, %w: tensor<1x1x?x?xf32>, %bad: tensor<1x?x7xf32>, %bad2: tensor<1x?x7xi32>) {
  // expected-error @+1 {{C3: expected accumulators and a result of their type, or neither}}
  %r:3 = rt.weigh_grad [#rt.centroid] ins(%d, %rows, %w : tensor<1x?x?xf32>, tensor<1x?x9xf32>, tensor<1x1x?x?xf32>) tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>) at(%c0, %c0) outs(%b : tensor<1x?x1xf32>) -> tensor<1x?x7xf32>
  return
}

// -----

// C3 of rt.weigh_grad: accumulators as the channels demand.
func.func @weigh_c3_fields(%d: tensor<1x?x?xf32>, %rows: tensor<1x?x9xf32>, %stack: tensor<1x1x?x4xf32>, %k: tensor<1x?x4xf32>, %tau: tensor<f32>, %g: tensor<0xf32>, %c0: index, %f: tensor<1x?x2xf32>, %s: tensor<1x?x4xf32>, %b: tensor<1x?x1xf32>, %y: tensor<1x?x4xf32>, %n: tensor<1x?xf32>, %l: tensor<1x?x2xf32>, %p: tensor<1x?x1xf32>, %x: tensor<1x?x0xi32>, %w: tensor<1x1x?x?xf32>, %bad: tensor<1x?x7xf32>, %bad2: tensor<1x?x7xi32>) {
  // expected-error @+1 {{C3: expected accumulators with A = 1, got 'tensor<1x?x7xf32>'}}
  %r:3 = rt.weigh_grad [#rt.centroid] ins(%d, %rows, %w : tensor<1x?x?xf32>, tensor<1x?x9xf32>, tensor<1x1x?x?xf32>) tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>) at(%c0, %c0) outs(%bad : tensor<1x?x7xf32>) -> tensor<1x?x7xf32>
  return
}

// -----

// C2 of rt.weigh_grad: lengths of the batch.
func.func @weigh_c2_lengths(%d: tensor<1x?x?xf32>, %rows: tensor<1x?x9xf32>, %stack: tensor<1x1x?x4xf32>, %k: tensor<1x?x4xf32>, %tau: tensor<f32>, %g: tensor<0xf32>, %c0: index, %f: tensor<1x?x2xf32>, %s: tensor<1x?x4xf32>, %b: tensor<1x?x1xf32>, %y: tensor<1x?x4xf32>, %n: tensor<1x?xf32>, %l: tensor<1x?x2xf32>, %p: tensor<1x?x1xf32>, %x: tensor<1x?x0xi32>, %w: tensor<1x1x?x?xf32>, %bad: tensor<1x?x7xf32>, %bad2: tensor<1x?x7xi32>) {
  // expected-error @+1 {{C2: expected lengths [B] of 'i64', got 'tensor<1x?xf32>'}}
  %r:2 = rt.weigh_grad [#rt.centroid] ins(%d, %rows, %w : tensor<1x?x?xf32>, tensor<1x?x9xf32>, tensor<1x1x?x?xf32>) tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>) at(%c0, %c0) lengths(%n : tensor<1x?xf32>)
  return
}

// -----

// C2 of rt.weigh_grad: products of the weighted channels.
func.func @weigh_c2_products(%d: tensor<1x?x?xf32>, %rows: tensor<1x?x9xf32>, %stack: tensor<1x1x?x4xf32>, %k: tensor<1x?x4xf32>, %tau: tensor<f32>, %g: tensor<0xf32>, %c0: index, %f: tensor<1x?x2xf32>, %s: tensor<1x?x4xf32>, %b: tensor<1x?x1xf32>, %y: tensor<1x?x4xf32>, %n: tensor<1x?xf32>, %l: tensor<1x?x2xf32>, %p: tensor<1x?x1xf32>, %x: tensor<1x?x0xi32>, %w: tensor<1x1x?x?xf32>, %bad: tensor<1x?x7xf32>, %bad2: tensor<1x?x7xi32>) {
  // expected-error @+1 {{C2: expected products [B, C, Tq, T] of 'f32', got 'tensor<1x?x?xf32>'}}
  %r:2 = rt.weigh_grad [#rt.centroid] ins(%d, %rows, %d : tensor<1x?x?xf32>, tensor<1x?x9xf32>, tensor<1x?x?xf32>) tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>) at(%c0, %c0)
  return
}

// -----

// C4 of rt.weigh_grad: the metric.
func.func @weigh_c4(%d: tensor<1x?x?xf32>, %rows: tensor<1x?x9xf32>, %stack: tensor<1x1x?x4xf32>, %k: tensor<1x?x4xf32>, %tau: tensor<f32>, %g: tensor<0xf32>, %c0: index, %f: tensor<1x?x2xf32>, %s: tensor<1x?x4xf32>, %b: tensor<1x?x1xf32>, %y: tensor<1x?x4xf32>, %n: tensor<1x?xf32>, %l: tensor<1x?x2xf32>, %p: tensor<1x?x1xf32>, %x: tensor<1x?x0xi32>, %w: tensor<1x1x?x?xf32>, %bad: tensor<1x?x7xf32>, %bad2: tensor<1x?x7xi32>) {
  // expected-error @+1 {{C4: expected the metric sq_l2 or l2, got dot}}
  %r:2 = rt.weigh_grad [#rt.centroid] ins(%d, %rows, %w : tensor<1x?x?xf32>, tensor<1x?x9xf32>, tensor<1x1x?x?xf32>) tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>) at(%c0, %c0) {metric = #rt.metric<dot>}
  return
}

// -----

// C2 of rt.copy_grad: rows as the channels demand.
func.func @copy_c2(%d: tensor<1x?x?xf32>, %rows: tensor<1x?x9xf32>, %stack: tensor<1x1x?x4xf32>, %k: tensor<1x?x4xf32>, %tau: tensor<f32>, %g: tensor<0xf32>, %c0: index, %f: tensor<1x?x2xf32>, %s: tensor<1x?x4xf32>, %b: tensor<1x?x1xf32>, %y: tensor<1x?x4xf32>, %n: tensor<1x?xf32>, %l: tensor<1x?x2xf32>, %p: tensor<1x?x1xf32>, %x: tensor<1x?x0xi32>, %w: tensor<1x1x?x?xf32>, %bad: tensor<1x?x7xf32>, %bad2: tensor<1x?x7xi32>) {
  // expected-error @+1 {{C2: expected rows with F = 9, got 'tensor<1x?x7xf32>'}}
  %r = rt.copy_grad [#rt.centroid] (%bad, %y, %y, %x : tensor<1x?x7xf32>, tensor<1x?x4xf32>, tensor<1x?x4xf32>, tensor<1x?x0xi32>) at(%c0) outs(%s : tensor<1x?x4xf32>)
  return
}

// -----

// C3 of rt.query_grad: parts of tau and the gammas.
func.func @query_c3(%d: tensor<1x?x?xf32>, %rows: tensor<1x?x9xf32>, %stack: tensor<1x1x?x4xf32>, %k: tensor<1x?x4xf32>, %tau: tensor<f32>, %g: tensor<0xf32>, %c0: index, %f: tensor<1x?x2xf32>, %s: tensor<1x?x4xf32>, %b: tensor<1x?x1xf32>, %y: tensor<1x?x4xf32>, %n: tensor<1x?xf32>, %l: tensor<1x?x2xf32>, %p: tensor<1x?x1xf32>, %x: tensor<1x?x0xi32>, %w: tensor<1x1x?x?xf32>, %bad: tensor<1x?x7xf32>, %bad2: tensor<1x?x7xi32>) {
  // expected-error @+1 {{C3: expected parts with 1 + n = 1, got 'tensor<1x?x7xf32>'}}
  %r:2 = rt.query_grad [#rt.centroid] (%b, %s, %rows : tensor<1x?x1xf32>, tensor<1x?x4xf32>, tensor<1x?x9xf32>) tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>) at(%c0) of %c0 outs(%y, %bad : tensor<1x?x4xf32>, tensor<1x?x7xf32>)
  return
}

// -----

// C1 of rt.key_grad: sums and gradients of one shape.
func.func @key_c1(%d: tensor<1x?x?xf32>, %rows: tensor<1x?x9xf32>, %stack: tensor<1x1x?x4xf32>, %k: tensor<1x?x4xf32>, %tau: tensor<f32>, %g: tensor<0xf32>, %c0: index, %f: tensor<1x?x2xf32>, %s: tensor<1x?x4xf32>, %b: tensor<1x?x1xf32>, %y: tensor<1x?x4xf32>, %n: tensor<1x?xf32>, %l: tensor<1x?x2xf32>, %p: tensor<1x?x1xf32>, %x: tensor<1x?x0xi32>, %w: tensor<1x1x?x?xf32>, %bad: tensor<1x?x7xf32>, %bad2: tensor<1x?x7xi32>) {
  // expected-error @+1 {{C1: expected gradients with D = 4, got 'tensor<1x?x2xf32>'}}
  %r = rt.key_grad [#rt.centroid] (%s : tensor<1x?x4xf32>) tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>) at(%c0) of %c0 outs(%f : tensor<1x?x2xf32>)
  return
}

// -----

// C1 of rt.sum_differences: sums of the side.
func.func @differences_c1(%c: tensor<1x3x5xf32>, %q: tensor<1x3x4xf32>, %k: tensor<1x5x4xf32>) {
  // expected-error @+1 {{C1: expected sums with T = 5, got 'tensor<1x3x4xf32>'}}
  %r = rt.sum_differences <key> (%c, %q, %k : tensor<1x3x5xf32>, tensor<1x3x4xf32>, tensor<1x5x4xf32>) near(%c : tensor<1x3x5xf32>) outs(%q : tensor<1x3x4xf32>)
  return
}

// -----

// C1 of rt.parameter_grad: one part per parameter.
func.func @parameter_c1(%d: tensor<1x?x?xf32>, %rows: tensor<1x?x9xf32>, %stack: tensor<1x1x?x4xf32>, %k: tensor<1x?x4xf32>, %tau: tensor<f32>, %g: tensor<0xf32>, %c0: index, %f: tensor<1x?x2xf32>, %s: tensor<1x?x4xf32>, %b: tensor<1x?x1xf32>, %y: tensor<1x?x4xf32>, %n: tensor<1x?xf32>, %l: tensor<1x?x2xf32>, %p: tensor<1x?x1xf32>, %x: tensor<1x?x0xi32>, %w: tensor<1x1x?x?xf32>, %bad: tensor<1x?x7xf32>, %bad2: tensor<1x?x7xi32>) {
  // expected-error @+1 {{C1: expected parts with P = 1, got 'tensor<1x?x7xf32>'}}
  %r:2 = rt.parameter_grad %bad : tensor<1x?x7xf32> -> tensor<f32>, tensor<0xf32>
  return
}
