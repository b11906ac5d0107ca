// Families share every pass up to the products: the sweeps and the products of
// both, forward and backward, are one text but for the attribute that says which
// loops will be made.

// DEFINE: %{passes} =
// DEFINE: %{both} = \
// DEFINE:   sed -e "s/family = fused/family = stored/" %s > %t.mlir && \
// DEFINE:   rt-opt %s %{passes} -o %t.fused && \
// DEFINE:   rt-opt %t.mlir %{passes} -o %t.stored && \
// DEFINE:   sed -e "s/ attributes {rt.schedule = [^}]*}//" %t.fused > %t.fused.text && \
// DEFINE:   sed -e "s/ attributes {rt.schedule = [^}]*}//" %t.stored > %t.stored.text

// As the CPU's pipeline has them.
// REDEFINE: %{passes} = --rt-differentiate --rt-to-sweeps --rt-verify-stage=stage=sweeps
// RUN: %{both}
// RUN: diff %t.fused.text %t.stored.text
// RUN: FileCheck %s --check-prefix=SWEEPS < %t.stored
// REDEFINE: %{passes} = --rt-differentiate --rt-to-sweeps --rt-fuse-channels --rt-fuse-gradient --rt-verify-stage=stage=products
// RUN: %{both}
// RUN: diff %t.fused.text %t.stored.text
// RUN: FileCheck %s --check-prefix=PRODUCTS < %t.stored

// As the devices' pipeline has them.
// REDEFINE: %{passes} = --rt-differentiate --rt-schedule-kernels --rt-to-sweeps --rt-verify-stage=stage=sweeps
// RUN: %{both}
// RUN: diff %t.fused.text %t.stored.text
// RUN: FileCheck %s --check-prefix=SWEEPS < %t.stored
// REDEFINE: %{passes} = --rt-differentiate --rt-schedule-kernels --rt-to-sweeps --rt-fuse-channels --rt-fuse-gradient --rt-verify-stage=stage=products
// RUN: %{both}
// RUN: diff %t.fused.text %t.stored.text
// RUN: FileCheck %s --check-prefix=PRODUCTS < %t.stored

// The attribute is there, and matters from the next pass on.
// REDEFINE: %{passes} = --rt-to-sweeps --rt-fuse-channels --rt-fuse-gradient --rt-tile-kernels --rt-tile-tasks
// RUN: %{both}
// RUN: not diff %t.fused.text %t.stored.text

// SWEEPS: func.func @attend({{.*}} family = stored
// SWEEPS: rt.reduce_sweep {{.*}} sums(
// SWEEPS: func.func @attend_backward({{.*}} family = stored
// SWEEPS: rt.query_grad_sweep
// SWEEPS: rt.key_grad_sweep

// PRODUCTS: func.func @attend({{.*}} family = stored
// PRODUCTS-NOT: scf.for
// PRODUCTS: rt.weigh
// PRODUCTS: linalg.contract
// PRODUCTS-NOT: scf.for
// PRODUCTS: func.func @attend_backward({{.*}} family = stored
// PRODUCTS-NOT: scf.for
// PRODUCTS: rt.weigh_grad
// PRODUCTS: rt.sum_differences <query>
// PRODUCTS: rt.sum_differences <key>
// PRODUCTS: rt.copy_grad
// PRODUCTS-NOT: scf.for
func.func @attend(%q: tensor<?x?x64xf32>, %table: tensor<?x64xf32>, %ids: tensor<?x?xi32>, %tau: tensor<f32>, %g: tensor<1xf32>, %off: index, %len: tensor<?xi64>) -> tensor<?x?x193xf32> attributes {rt.schedule = #rt.schedule<query_tile = 32, key_chunk = 192, split_keys = 1, scores = keep, family = fused>} {
  %y = rt.attend [#rt.centroid, #rt.entropy, #rt.decay<backward, 0>, #rt.top<1>]
    queries(%q : tensor<?x?x64xf32>) lookup(%table[%ids] : tensor<?x64xf32>, tensor<?x?xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<1xf32>) offset(%off) lengths(%len : tensor<?xi64>) -> tensor<?x?x193xf32>
  return %y : tensor<?x?x193xf32>
}
