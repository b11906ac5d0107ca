// The stages that the README shows, from the file that it lowers.
// RUN: rt-opt %S/../../examples/small.mlir --rt-decompose | FileCheck %s --check-prefix=REFERENCE
// RUN: rt-opt %S/../../examples/small.mlir --rt-stream | FileCheck %s --check-prefix=TILED
// RUN: rt-opt %S/../../examples/small.mlir --rt-stream --rt-bufferize --rt-lower-to-cpu=vector-bits=256 | FileCheck %s --check-prefix=CPU

// REFERENCE: rt.lookup
// REFERENCE: rt.distance
// REFERENCE: rt.softmax
// REFERENCE: rt.decay
// REFERENCE: rt.reduce {{.*}}{floor = 1.000000e-08
// REFERENCE: rt.normalize

// TILED: scf.forall {{.*}} step (1, %c32)
// TILED: rt.init <score>
// TILED: scf.for {{.*}} step %c192
// TILED: rt.lookup
// TILED: rt.distance
// TILED: rt.score_sweep
// TILED: scf.for {{.*}} step %c192
// TILED-NOT: rt.distance
// TILED: rt.reduce_sweep
// TILED: rt.weigh
// TILED: linalg.contract
// TILED: rt.finalize

// CPU-NOT: rt.
// CPU: scf.for {{.*}} vector<8xf32>
// CPU: vector.load {{.*}} memref<2x64x16xf32>, vector<8xf32>
// CPU: memref.load {{.*}} memref<4x192x16xf32>
// CPU: vector.broadcast
// CPU: math.fma {{.*}} vector<8xf32>
