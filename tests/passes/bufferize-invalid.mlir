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
