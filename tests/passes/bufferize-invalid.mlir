// RUN: rt-opt %s --rt-bufferize -split-input-file -verify-diagnostics

// expected-error @+1 {{expected results that are tensors, got 'index'}}
func.func @scalar(%q: tensor<?x8xf32>) -> index {
  %c0 = arith.constant 0 : index
  %e = tensor.empty() : tensor<8xf32>
  %n = tensor.dim %q, %c0 : tensor<?x8xf32>
  return %n : index
}

// -----

// expected-error @+1 {{expected a body of one block}}
func.func @branches(%c: i1, %q: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  cf.cond_br %c, ^a, ^b
^a:
  return %q : tensor<8xf32>
^b:
  return %e : tensor<8xf32>
}

// -----

func.func @called(%a: tensor<4xf32>) -> tensor<4xf32> {
  %c = arith.constant 0.0 : f32
  %f = linalg.fill ins(%c : f32) outs(%a : tensor<4xf32>) -> tensor<4xf32>
  return %f : tensor<4xf32>
}
func.func @caller(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected functions on tensors that nobody calls, got a use of @called}}
  %r = call @called(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

func.func @chosen(%c: i1, %t: tensor<8x16xf32>, %i: tensor<1x4xi32>, %j: tensor<1x4xi32>, %q: tensor<1x4x16xf32>) -> tensor<1x4x4xf32> {
  %k = scf.if %c -> tensor<1x4x16xf32> {
    // expected-error @+1 {{is handed on by a branch or loop; expected one that updates a buffer from outside of it}}
    %a = rt.lookup %t[%i] : tensor<8x16xf32>, tensor<1x4xi32> -> tensor<1x4x16xf32>
    scf.yield %a : tensor<1x4x16xf32>
  } else {
    %a = rt.lookup %t[%j] : tensor<8x16xf32>, tensor<1x4xi32> -> tensor<1x4x16xf32>
    scf.yield %a : tensor<1x4x16xf32>
  }
  %d = rt.distance %q, %k : tensor<1x4x16xf32>, tensor<1x4x16xf32> -> tensor<1x4x4xf32>
  return %d : tensor<1x4x4xf32>
}
