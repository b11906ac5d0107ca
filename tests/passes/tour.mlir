// The stages that the README shows, from the file that it lowers.
// RUN: rt-opt %S/../../examples/small.mlir --rt-decompose | FileCheck %s --check-prefix=REFERENCE
// RUN: rt-opt %S/../../examples/small.mlir --rt-stream | FileCheck %s --check-prefix=FUSED
// RUN: rt-opt %S/../../examples/small.mlir --rt-stream --rt-bufferize --rt-lower-to-cpu=vector-bits=256 | FileCheck %s --check-prefix=CPU

// REFERENCE: rt.lookup
// REFERENCE: rt.distance
// REFERENCE: rt.softmax
// REFERENCE: rt.decay
// REFERENCE: rt.reduce {{.*}}{floor = 1.000000e-08
// REFERENCE: rt.normalize

// FUSED: scf.forall {{.*}} step (1, %c32)
// FUSED: rt.init <score>
// FUSED: scf.for {{.*}} step %c192
// FUSED: rt.lookup
// FUSED: rt.distance
// FUSED: rt.score_sweep
// FUSED: scf.for {{.*}} step %c192
// FUSED-NOT: rt.distance
// FUSED: rt.weigh
// FUSED: linalg.contract
// FUSED: rt.reduce_sweep
// FUSED: rt.finalize

// CPU-NOT: rt.
// CPU: scf.for {{.*}} vector<8xf32>
// CPU: vector.load {{.*}} memref<2x64x16xf32>, vector<8xf32>
// CPU: memref.load {{.*}} memref<4x192x16xf32>
// CPU: vector.broadcast
// CPU: math.fma {{.*}} vector<8xf32>
