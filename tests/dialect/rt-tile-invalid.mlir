// RUN: rt-opt %s -split-input-file -verify-diagnostics

func.func @c1_count(%q: memref<1x2x8xf32>, %d: memref<1x2x2xf32>) {
  // expected-error @+1 {{C1: expected one block argument per buffer, got 1 for 2}}
  rt_tile.compute ins(%q : memref<1x2x8xf32>) outs(%d : memref<1x2x2xf32>) {
  ^bb0(%td: tensor<1x2x2xf32>):
    %0 = tensor.empty() : tensor<1x2x2xf32>
    rt_tile.yield %0 : tensor<1x2x2xf32>
  }
  return
}

// -----

func.func @c1_type(%d: memref<1x2x2xf32>) {
  // expected-error @+1 {{C1: expected a block argument of type 'tensor<1x2x2xf32>', got 'tensor<1x2x3xf32>'}}
  rt_tile.compute outs(%d : memref<1x2x2xf32>) {
  ^bb0(%td: tensor<1x2x3xf32>):
    %0 = tensor.empty() : tensor<1x2x3xf32>
    rt_tile.yield %0 : tensor<1x2x3xf32>
  }
  return
}

// -----

func.func @c2_two_ops(%q: memref<1x2x8xf32>, %d: memref<1x2x2xf32>) {
  // expected-error @+1 {{C2: expected one op and a yield in its body}}
  rt_tile.compute ins(%q : memref<1x2x8xf32>) outs(%d : memref<1x2x2xf32>) {
  ^bb0(%tq: tensor<1x2x8xf32>, %td: tensor<1x2x2xf32>):
    %0 = rt.distance %tq, %tq : tensor<1x2x8xf32>, tensor<1x2x8xf32> -> tensor<1x2x2xf32>
    %1 = rt.distance %tq, %tq : tensor<1x2x8xf32>, tensor<1x2x8xf32> -> tensor<1x2x2xf32>
    rt_tile.yield %1 : tensor<1x2x2xf32>
  }
  return
}

// -----

func.func @c2_all_results(%f: memref<1x2x2xf32>) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  // expected-error @+1 {{C2: expected all results of the op to be yielded}}
  rt_tile.compute outs(%f : memref<1x2x2xf32>) {
  ^bb0(%tf: tensor<1x2x2xf32>):
    %0, %1 = rt.init <reduce> [#rt.entropy](%c1, %c2) : tensor<1x2x2xf32>, tensor<1x2x0xi32>
    rt_tile.yield %0 : tensor<1x2x2xf32>
  }
  return
}

// -----

func.func @c2_type(%d: memref<1x2x3xf32>) {
  // expected-error @+1 {{C2: expected results of the types of the buffers}}
  rt_tile.compute outs(%d : memref<1x2x3xf32>) {
  ^bb0(%td: tensor<1x2x3xf32>):
    %0 = tensor.empty() : tensor<1x2x2xf32>
    rt_tile.yield %0 : tensor<1x2x2xf32>
  }
  return
}

// -----

func.func @c3(%q: tensor<1x2x8xf32>, %d: memref<1x2x2xf32>) {
  // expected-error @+1 {{C3: expected the op to read block arguments, got}}
  rt_tile.compute outs(%d : memref<1x2x2xf32>) {
  ^bb0(%td: tensor<1x2x2xf32>):
    %0 = rt.distance %q, %q : tensor<1x2x8xf32>, tensor<1x2x8xf32> -> tensor<1x2x2xf32>
    rt_tile.yield %0 : tensor<1x2x2xf32>
  }
  return
}
