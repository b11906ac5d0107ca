// RUN: rt-opt %s -split-input-file -verify-diagnostics

func.func @C1_rank(%q: tensor<4x8xf32>, %t: tensor<9x8xf32>, %ids: tensor<1x4xi32>, %tau: tensor<f32>, %g: tensor<0xf32>) {
  // expected-error @+1 {{C1: expected queries [B, Tq, D], got 'tensor<4x8xf32>'}}
  %y = rt.attend [#rt.centroid] queries(%q : tensor<4x8xf32>) lookup(%t[%ids] : tensor<9x8xf32>, tensor<1x4xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>) -> tensor<1x4x8xf32>
  return
}

// -----

func.func @C1_element(%q: tensor<1x4x8xf16>, %t: tensor<9x8xf16>, %ids: tensor<1x4xi32>, %tau: tensor<f32>, %g: tensor<0xf32>) {
  // expected-error @+1 {{C1: expected queries of f32, f64 or bf16}}
  %y = rt.attend [#rt.centroid] queries(%q : tensor<1x4x8xf16>) lookup(%t[%ids] : tensor<9x8xf16>, tensor<1x4xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>) -> tensor<1x4x8xf32>
  return
}

// -----

func.func @C1_dynamic_D(%q: tensor<1x4x?xf32>, %t: tensor<9x8xf32>, %ids: tensor<1x4xi32>, %tau: tensor<f32>, %g: tensor<0xf32>) {
  // expected-error @+1 {{C1: expected a static D of at least 1}}
  %y = rt.attend [#rt.centroid] queries(%q : tensor<1x4x?xf32>) lookup(%t[%ids] : tensor<9x8xf32>, tensor<1x4xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>) -> tensor<1x4x8xf32>
  return
}

// -----

func.func @C2(%q: tensor<1x4x8xf32>, %t: tensor<9x7xf32>, %ids: tensor<1x4xi32>, %tau: tensor<f32>, %g: tensor<0xf32>) {
  // expected-error @+1 {{C2: expected a table with D = 8, got 'tensor<9x7xf32>'}}
  %y = rt.attend [#rt.centroid] queries(%q : tensor<1x4x8xf32>) lookup(%t[%ids] : tensor<9x7xf32>, tensor<1x4xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>) -> tensor<1x4x8xf32>
  return
}

// -----

func.func @C2_no_keys(%q: tensor<1x4x8xf32>, %tau: tensor<f32>, %g: tensor<0xf32>) {
  // expected-error @+1 {{C2: expected keys by lookup(table[ids]), got none}}
  %y = rt.attend [#rt.centroid] queries(%q : tensor<1x4x8xf32>) tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>) -> tensor<1x4x8xf32>
  return
}

// -----

func.func @C3(%q: tensor<1x4x8xf32>, %t: tensor<9x8xf32>, %ids: tensor<1x4xi16>, %tau: tensor<f32>, %g: tensor<0xf32>) {
  // expected-error @+1 {{C3: expected ids of i32 or i64, got 'i16'}}
  %y = rt.attend [#rt.centroid] queries(%q : tensor<1x4x8xf32>) lookup(%t[%ids] : tensor<9x8xf32>, tensor<1x4xi16>) tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>) -> tensor<1x4x8xf32>
  return
}

// -----

func.func @C4(%q: tensor<1x4x8xbf16>, %t: tensor<9x8xbf16>, %ids: tensor<1x4xi32>, %tau: tensor<bf16>, %g: tensor<0xf32>) {
  // expected-error @+1 {{C4: expected tau [] of 'f32', got 'tensor<bf16>'}}
  %y = rt.attend [#rt.centroid] queries(%q : tensor<1x4x8xbf16>) lookup(%t[%ids] : tensor<9x8xbf16>, tensor<1x4xi32>) tau(%tau : tensor<bf16>) gammas(%g : tensor<0xf32>) -> tensor<1x4x8xf32>
  return
}

// -----

func.func @C5_none(%q: tensor<1x4x8xf32>, %t: tensor<9x8xf32>, %ids: tensor<1x4xi32>, %tau: tensor<f32>, %g: tensor<0xf32>) {
  // expected-error @+1 {{C5: expected at least one channel, got none}}
  %y = rt.attend [] queries(%q : tensor<1x4x8xf32>) lookup(%t[%ids] : tensor<9x8xf32>, tensor<1x4xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>) -> tensor<1x4x0xf32>
  return
}

// -----

func.func @C5_other(%q: tensor<1x4x8xf32>, %t: tensor<9x8xf32>, %ids: tensor<1x4xi32>, %tau: tensor<f32>, %g: tensor<0xf32>) {
  // expected-error @+1 {{C5: expected a channel at index 1 of the list, got #rt.causal}}
  %y = rt.attend [#rt.centroid, #rt.causal] queries(%q : tensor<1x4x8xf32>) lookup(%t[%ids] : tensor<9x8xf32>, tensor<1x4xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>) -> tensor<1x4x8xf32>
  return
}

// -----

func.func @C6_gamma(%q: tensor<1x4x8xf32>, %t: tensor<9x8xf32>, %ids: tensor<1x4xi32>, %tau: tensor<f32>, %g: tensor<2xf32>) {
  // expected-error @+1 {{C6: expected a gamma index of decay from 0 to 1, got 2}}
  %y = rt.attend [#rt.decay<backward, 2>] queries(%q : tensor<1x4x8xf32>) lookup(%t[%ids] : tensor<9x8xf32>, tensor<1x4xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<2xf32>) -> tensor<1x4x8xf32>
  return
}

// -----

func.func @C6_rank(%q: tensor<1x4x8xf32>, %t: tensor<9x8xf32>, %ids: tensor<1x4xi32>, %tau: tensor<f32>, %g: tensor<0xf32>) {
  // expected-error @+1 {{C6: expected a rank of top from 1 to 64, got 0}}
  %y = rt.attend [#rt.top<0>] queries(%q : tensor<1x4x8xf32>) lookup(%t[%ids] : tensor<9x8xf32>, tensor<1x4xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>) -> tensor<1x4x8xf32>
  return
}

// -----

func.func @C6_power0(%q: tensor<1x4x8xf32>, %t: tensor<9x8xf32>, %ids: tensor<1x4xi32>, %tau: tensor<f32>, %g: tensor<0xf32>) {
  // expected-error @+1 {{C6: expected a power of moment from 1 to 4, got 0}}
  %y = rt.attend [#rt.moment<0>] queries(%q : tensor<1x4x8xf32>) lookup(%t[%ids] : tensor<9x8xf32>, tensor<1x4xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>) -> tensor<1x4x1xf32>
  return
}

// -----

func.func @C6_power5(%q: tensor<1x4x8xf32>, %t: tensor<9x8xf32>, %ids: tensor<1x4xi32>, %tau: tensor<f32>, %g: tensor<0xf32>) {
  // expected-error @+1 {{C6: expected a power of moment from 1 to 4, got 5}}
  %y = rt.attend [#rt.moment<5>] queries(%q : tensor<1x4x8xf32>) lookup(%t[%ids] : tensor<9x8xf32>, tensor<1x4xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>) -> tensor<1x4x1xf32>
  return
}

// -----

func.func @C7(%q: tensor<1x4x8xf32>, %t: tensor<9x8xf32>, %ids: tensor<1x4xi32>, %tau: tensor<f32>, %g: tensor<0xf32>) {
  // expected-error @+1 {{C7: expected signals with S = 9, got 'tensor<1x4x8xf32>'}}
  %y = rt.attend [#rt.centroid, #rt.spread] queries(%q : tensor<1x4x8xf32>) lookup(%t[%ids] : tensor<9x8xf32>, tensor<1x4xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>) -> tensor<1x4x8xf32>
  return
}

// -----

func.func @C8_count(%q: tensor<1x4x8xf32>, %t: tensor<9x8xf32>, %ids: tensor<1x4xi32>, %tau: tensor<f32>, %g: tensor<0xf32>) {
  // expected-error @+1 {{C8: expected 1 saved results, one per entry of saves, got 0}}
  %y = rt.attend [#rt.centroid] queries(%q : tensor<1x4x8xf32>) lookup(%t[%ids] : tensor<9x8xf32>, tensor<1x4xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>) {saves = [#rt.saved<norm>]} -> tensor<1x4x8xf32>
  return
}

// -----

func.func @C8_twice(%q: tensor<1x4x8xf32>, %t: tensor<9x8xf32>, %ids: tensor<1x4xi32>, %tau: tensor<f32>, %g: tensor<0xf32>) {
  // expected-error @+1 {{C8: expected #rt.saved entries, none twice, got #rt.saved<norm>}}
  %y:3 = rt.attend [#rt.centroid] queries(%q : tensor<1x4x8xf32>) lookup(%t[%ids] : tensor<9x8xf32>, tensor<1x4xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>) {saves = [#rt.saved<norm>, #rt.saved<norm>]} -> tensor<1x4x8xf32> saves tensor<1x4xf32>, tensor<1x4xf32>
  return
}

// -----

func.func @C8_shape(%q: tensor<1x4x8xf32>, %t: tensor<9x8xf32>, %ids: tensor<1x4xi32>, %tau: tensor<f32>, %g: tensor<0xf32>) {
  // expected-error @+1 {{C8: expected indices with copies = 1, got 'tensor<1x4x2xi32>'}}
  %y:2 = rt.attend [#rt.top<1>] queries(%q : tensor<1x4x8xf32>) lookup(%t[%ids] : tensor<9x8xf32>, tensor<1x4xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>) {saves = [#rt.saved<indices>]} -> tensor<1x4x8xf32> saves tensor<1x4x2xi32>
  return
}

// -----

func.func @C9(%q: tensor<1x4x8xf32>, %t: tensor<9x8xf32>, %ids: tensor<1x4xi32>, %tau: tensor<f32>, %g: tensor<0xf32>, %len: tensor<1xi32>) {
  // expected-error @+1 {{C9: expected lengths [B] of 'i64', got 'tensor<1xi32>'}}
  %y = rt.attend [#rt.centroid] queries(%q : tensor<1x4x8xf32>) lookup(%t[%ids] : tensor<9x8xf32>, tensor<1x4xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>) lengths(%len : tensor<1xi32>) -> tensor<1x4x8xf32>
  return
}

// -----

func.func @C10(%q: tensor<2x4x8xf32>, %t: tensor<9x8xf32>, %ids: tensor<1x4xi32>, %tau: tensor<f32>, %g: tensor<0xf32>) {
  // expected-error @+1 {{C3: expected ids with B = 2, got 'tensor<1x4xi32>'}}
  %y = rt.attend [#rt.centroid] queries(%q : tensor<2x4x8xf32>) lookup(%t[%ids] : tensor<9x8xf32>, tensor<1x4xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>) -> tensor<2x4x8xf32>
  return
}

// -----

func.func @C11_heads(%q: tensor<1x4x2x8xf32>, %t: tensor<9x8xf32>, %ids: tensor<1x4xi32>, %tau: tensor<f32>, %g: tensor<0xf32>) {
  // expected-error @+1 {{C11: several heads, queries [B, Tq, Hq, D], are not supported yet}}
  %y = rt.attend [#rt.centroid] queries(%q : tensor<1x4x2x8xf32>) lookup(%t[%ids] : tensor<9x8xf32>, tensor<1x4xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>) -> tensor<1x4x8xf32>
  return
}

// -----

func.func @C11_keys(%q: tensor<1x4x8xf32>, %k: tensor<1x4x1x8xf32>, %tau: tensor<f32>, %g: tensor<0xf32>) {
  // expected-error @+1 {{C11: direct keys are not supported yet}}
  %y = rt.attend [#rt.centroid] queries(%q : tensor<1x4x8xf32>) keys(%k : tensor<1x4x1x8xf32>) tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>) -> tensor<1x4x8xf32>
  return
}

// -----

func.func @C11_values(%q: tensor<1x4x8xf32>, %t: tensor<9x8xf32>, %ids: tensor<1x4xi32>, %v: tensor<1x4x3xf32>, %tau: tensor<f32>, %g: tensor<0xf32>) {
  // expected-error @+1 {{C11: values of their own are not supported yet}}
  %y = rt.attend [#rt.centroid] queries(%q : tensor<1x4x8xf32>) lookup(%t[%ids] : tensor<9x8xf32>, tensor<1x4xi32>) values(%v : tensor<1x4x3xf32>) tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>) -> tensor<1x4x8xf32>
  return
}

// -----

func.func @C11_sink(%q: tensor<1x4x8xf32>, %t: tensor<9x8xf32>, %ids: tensor<1x4xi32>, %s: tensor<f32>, %tau: tensor<f32>, %g: tensor<0xf32>) {
  // expected-error @+1 {{C11: a sink is not supported yet}}
  %y = rt.attend [#rt.centroid] queries(%q : tensor<1x4x8xf32>) lookup(%t[%ids] : tensor<9x8xf32>, tensor<1x4xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>) sink(%s : tensor<f32>) -> tensor<1x4x8xf32>
  return
}

// -----

func.func @C11_epilogue(%q: tensor<1x4x8xf32>, %t: tensor<9x8xf32>, %ids: tensor<1x4xi32>, %tau: tensor<f32>, %g: tensor<0xf32>) {
  // expected-error @+1 {{C11: a score epilogue is not supported yet}}
  %y = rt.attend [#rt.centroid] queries(%q : tensor<1x4x8xf32>) lookup(%t[%ids] : tensor<9x8xf32>, tensor<1x4xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>) {epilogue = ["softcap"]} -> tensor<1x4x8xf32>
  return
}

// -----

func.func @C11_mask(%q: tensor<1x4x8xf32>, %t: tensor<9x8xf32>, %ids: tensor<1x4xi32>, %tau: tensor<f32>, %g: tensor<0xf32>) {
  // expected-error @+1 {{C11: expected the mask #rt.causal, got #rt.window<4>, which is not supported yet}}
  %y = rt.attend [#rt.centroid] queries(%q : tensor<1x4x8xf32>) lookup(%t[%ids] : tensor<9x8xf32>, tensor<1x4xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>) {mask = #rt.window<4>} -> tensor<1x4x8xf32>
  return
}

// -----

func.func @C11_static_zero(%q: tensor<1x0x8xf32>, %t: tensor<9x8xf32>, %ids: tensor<1x0xi32>, %tau: tensor<f32>, %g: tensor<0xf32>) {
  // expected-error @+1 {{C11: a static size of 0 (a dynamic one may be 0) is not supported yet}}
  %y = rt.attend [#rt.centroid] queries(%q : tensor<1x0x8xf32>) lookup(%t[%ids] : tensor<9x8xf32>, tensor<1x0xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>) -> tensor<1x0x8xf32>
  return
}

// -----

func.func @C11_dot(%q: tensor<1x4x8xf32>, %t: tensor<9x8xf32>, %ids: tensor<1x4xi32>, %tau: tensor<f32>, %g: tensor<0xf32>) {
  // expected-error @+1 {{C11: the metric dot is not supported yet}}
  %y = rt.attend [#rt.centroid] queries(%q : tensor<1x4x8xf32>) lookup(%t[%ids] : tensor<9x8xf32>, tensor<1x4xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>) {metric = #rt.metric<dot>} -> tensor<1x4x8xf32>
  return
}

// -----

// expected-error-re @+1 {{expected an rt attribute or a channel out of antitop, centroid, {{.*}}top, got 'median'}}
func.func private @unknown_channel() attributes {channels = [#rt.median]}

// -----

// expected-error @+1 {{expected forward or backward, got 'sideways'}}
func.func private @unknown_direction() attributes {channels = [#rt.decay<sideways, 0>]}

// -----

// expected-error @+1 {{expected positive query_tile, key_chunk and split_keys, got 0, 192, 1}}
func.func private @schedule() attributes {rt.schedule = #rt.schedule<query_tile = 0, key_chunk = 192, split_keys = 1, scores = keep>}

// -----

// expected-error @+1 {{expected query_tile, key_chunk, split_keys, query_chunk and fold_chunk of at most 2147483647, got 32, 192, 576460752303423488, 0, 0}}
func.func private @schedule() attributes {rt.schedule = #rt.schedule<query_tile = 32, key_chunk = 192, split_keys = 576460752303423488, scores = keep>}

// -----

// expected-error @+1 {{expected query_chunk to be 0, or positive in family stored, got 64}}
func.func private @schedule() attributes {rt.schedule = #rt.schedule<query_tile = 32, key_chunk = 192, split_keys = 1, scores = keep, query_chunk = 64>}

// -----

// expected-error @+1 {{expected fold_chunk to be 0 or positive, got -1}}
func.func private @schedule() attributes {rt.schedule = #rt.schedule<query_tile = 32, key_chunk = 192, split_keys = 1, scores = keep, fold_chunk = -1>}
