// RUN: rt-opt %s --rt-differentiate -split-input-file -verify-diagnostics

func.func @no_rule(%x: tensor<1x4x8xf32>) -> tensor<1x4x8xf32> {
  %y, %norm = rt.normalize %x : tensor<1x4x8xf32> -> tensor<1x4xf32>
  // expected-error @+1 {{'math.sin' op expected a derivative rule, since a gradient flows through it, got none}}
  %0 = math.sin %y : tensor<1x4x8xf32>
  return %0 : tensor<1x4x8xf32>
}

// -----

func.func @scalar_without_rule(%x: tensor<1x4x8xf32>) -> tensor<1x4x8xf32> {
  %y, %norm = rt.normalize %x : tensor<1x4x8xf32> -> tensor<1x4xf32>
  %empty = tensor.empty() : tensor<1x4x8xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(b, i, d) -> (b, i, d)>, affine_map<(b, i, d) -> (b, i, d)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%y : tensor<1x4x8xf32>) outs(%empty : tensor<1x4x8xf32>) {
  ^bb0(%a: f32, %out: f32):
    // expected-error @+1 {{'math.tanh' op expected a derivative rule, since a gradient flows through it, got none}}
    %0 = math.tanh %a : f32
    linalg.yield %0 : f32
  } -> tensor<1x4x8xf32>
  return %z : tensor<1x4x8xf32>
}

// -----

func.func @reduction(%x: tensor<1x4x8xf32>, %init: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %y, %norm = rt.normalize %x : tensor<1x4x8xf32> -> tensor<1x4xf32>
  // expected-error @+1 {{expected a derivative rule, got one only for one result and parallel loops only}}
  %z = linalg.generic {indexing_maps = [affine_map<(b, i, d) -> (b, i, d)>, affine_map<(b, i, d) -> (b, i)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%y : tensor<1x4x8xf32>) outs(%init : tensor<1x4xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = arith.addf %a, %out : f32
    linalg.yield %0 : f32
  } -> tensor<1x4xf32>
  return %z : tensor<1x4xf32>
}

// -----

func.func @not_a_maximum(%x: tensor<1x4x8xf32>, %init: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %y, %norm = rt.normalize %x : tensor<1x4x8xf32> -> tensor<1x4xf32>
  // expected-error @+1 {{expected a derivative rule, got one only for a maximum over one axis that starts at a constant}}
  %z = linalg.reduce {arith.addf} ins(%y : tensor<1x4x8xf32>) outs(%init : tensor<1x4xf32>) dimensions = [2]
  return %z : tensor<1x4xf32>
}

// -----

// expected-error @+1 {{expected straight-line code of one block to differentiate, got 2 blocks}}
func.func @blocks(%x: tensor<1x4x8xf32>) -> tensor<1x4x8xf32> {
  %y, %norm = rt.normalize %x : tensor<1x4x8xf32> -> tensor<1x4xf32>
  cf.br ^next
^next:
  return %y : tensor<1x4x8xf32>
}

// -----

func.func @loop(%x: tensor<1x4x8xf32>, %n: index) -> tensor<1x4x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{'scf.for' op expected a derivative rule, since a gradient flows through it, got none}}
  %z = scf.for %i = %c0 to %n step %c1 iter_args(%last = %x) -> tensor<1x4x8xf32> {
    %y, %norm = rt.normalize %last : tensor<1x4x8xf32> -> tensor<1x4xf32>
    scf.yield %y : tensor<1x4x8xf32>
  }
  return %z : tensor<1x4x8xf32>
}

// -----

// expected-error @+1 {{expected no function @twice_backward yet, got one}}
func.func @twice(%x: tensor<1x4x8xf32>) -> tensor<1x4x8xf32> {
  %y, %norm = rt.normalize %x : tensor<1x4x8xf32> -> tensor<1x4xf32>
  return %y : tensor<1x4x8xf32>
}
func.func private @twice_backward()
