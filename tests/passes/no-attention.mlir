// Passes leave alone what holds no attention.
// RUN: rt-opt %s --rt-decompose --rt-to-linalg | FileCheck %s
// RUN: rt-opt %s --rt-to-sweeps --rt-fuse-channels --rt-fuse-gradient --rt-tile-kernels --rt-tile-tasks --rt-split-keys=ways=2 --rt-chunk-keys | FileCheck %s
// RUN: rt-opt %s --rt-split-keys | FileCheck %s
// RUN: rt-opt %s --rt-lower-to-cpu --rt-outline-tasks --rt-expand-math | FileCheck %s
// RUN: rt-opt %s --rt-cpu -o /dev/null
// RUN: rt-opt %s --rt-reference -o /dev/null

// CHECK-LABEL: func.func @id
// CHECK-NEXT: return
func.func @id(%x: index) -> index {
  return %x : index
}
// CHECK: func.func private @declared
func.func private @declared(index)
