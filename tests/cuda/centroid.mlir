// Centroid by squared distances, f32, D = 64: the kernels of a plan. A block has
// 8 rows and 64 threads and goes through the keys 16 by 16, twice: for the
// maximum and the sum of the weights, then for the weighted sum.
gpu.module @kernels {
  gpu.func @sum_keys(%q: memref<?x?x64xf32>, %table: memref<?x64xf32>,
      %ids: memref<?x?xi32>, %tau: memref<f32>, %offset: index,
      %lengths: memref<?xi64>, %sums: memref<?x?x64xf32>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    %floor = arith.constant 0.01 : f32
    %lowest = arith.constant -1.0e30 : f32
    %inf = arith.constant 0xFF800000 : f32
    %tile = gpu.block_id x
    %b = gpu.block_id y
    %thread = gpu.thread_id x
    %first = arith.muli %tile, %c8 : index
    %rows = memref.dim %q, %c1 : memref<?x?x64xf32>
    %left = arith.subi %rows, %first : index
    %n = arith.minsi %left, %c8 : index
    // What the tile sees: up to its last row, and its sequence's end.
    %row0 = arith.addi %first, %offset : index
    %end = arith.addi %row0, %n : index
    %length64 = memref.load %lengths[%b] : memref<?xi64>
    %length = arith.index_cast %length64 : i64 to index
    %seen = arith.minsi %end, %length : index
    %hi = arith.maxsi %seen, %c0 : index
    %t0 = memref.load %tau[] : memref<f32>
    %t = arith.maximumf %t0, %floor : f32
    %shared = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %o_keys = arith.constant 0 : index
    %keys = memref.view %shared[%o_keys][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<16x64xf32, #gpu.address_space<workgroup>>
    %o_dist = arith.constant 4096 : index
    %dist = memref.view %shared[%o_dist][%n] : memref<?xi8, #gpu.address_space<workgroup>> to memref<?x16xf32, #gpu.address_space<workgroup>>
    %o_state = arith.constant 4608 : index
    %state = memref.view %shared[%o_state][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<8x2xf32, #gpu.address_space<workgroup>>
    scf.for %i = %thread to %n step %c64 {
      memref.store %lowest, %state[%i, %c0] : memref<8x2xf32, #gpu.address_space<workgroup>>
      memref.store %zero, %state[%i, %c1] : memref<8x2xf32, #gpu.address_space<workgroup>>
      scf.for %d = %c0 to %c64 step %c1 {
        %i_all = arith.addi %first, %i : index
        memref.store %zero, %sums[%b, %i_all, %d] : memref<?x?x64xf32>
      }
    }
    gpu.barrier
    %c2 = arith.constant 2 : index
    scf.for %pass = %c0 to %c2 step %c1 {
      %is_first = arith.cmpi slt, %pass, %c1 : index
      scf.for %j0 = %c0 to %hi step %c16 {
        %keys_left = arith.subi %hi, %j0 : index
        %m = arith.minsi %keys_left, %c16 : index
        %mn = arith.muli %m, %c64 : index
        scf.for %x = %thread to %mn step %c64 {
          %j = arith.divsi %x, %c64 : index
          %d = arith.remsi %x, %c64 : index
          %j_all = arith.addi %j0, %j : index
          %id32 = memref.load %ids[%b, %j_all] : memref<?x?xi32>
          %id = arith.index_cast %id32 : i32 to index
          %value = memref.load %table[%id, %d] : memref<?x64xf32>
          memref.store %value, %keys[%j, %d] : memref<16x64xf32, #gpu.address_space<workgroup>>
        }
        gpu.barrier
        %pairs = arith.muli %n, %c16 : index
        scf.for %x = %thread to %pairs step %c64 {
          %i = arith.divsi %x, %c16 : index
          %j = arith.remsi %x, %c16 : index
          %inside = arith.cmpi slt, %j, %m : index
          %z = scf.if %inside -> (f32) {
            %i_all = arith.addi %first, %i : index
            %sum = scf.for %d = %c0 to %c64 step %c1 iter_args(%s = %zero) -> (f32) {
              %a = memref.load %q[%b, %i_all, %d] : memref<?x?x64xf32>
              %k = memref.load %keys[%j, %d] : memref<16x64xf32, #gpu.address_space<workgroup>>
              %diff = arith.subf %a, %k : f32
              %s1 = math.fma %diff, %diff, %s : f32
              scf.yield %s1 : f32
            }
            %neg = arith.negf %sum : f32
            %score = arith.divf %neg, %t : f32
            %row = arith.addi %row0, %i : index
            %key = arith.addi %j0, %j : index
            %visible = arith.cmpi sle, %key, %row : index
            %masked = arith.select %visible, %score, %inf : f32
            scf.yield %masked : f32
          } else {
            scf.yield %inf : f32
          }
          memref.store %z, %dist[%i, %j] : memref<?x16xf32, #gpu.address_space<workgroup>>
        }
        gpu.barrier
        scf.if %is_first {
          scf.for %i = %thread to %n step %c64 {
            %m0 = memref.load %state[%i, %c0] : memref<8x2xf32, #gpu.address_space<workgroup>>
            %l0 = memref.load %state[%i, %c1] : memref<8x2xf32, #gpu.address_space<workgroup>>
            %r:2 = scf.for %j = %c0 to %c16 step %c1 iter_args(%mi = %m0, %li = %l0) -> (f32, f32) {
              %z = memref.load %dist[%i, %j] : memref<?x16xf32, #gpu.address_space<workgroup>>
              %m1 = arith.maximumf %mi, %z : f32
              %dm = arith.subf %mi, %m1 : f32
              %scale = math.exp %dm : f32
              %dz = arith.subf %z, %m1 : f32
              %w = math.exp %dz : f32
              %l1 = math.fma %li, %scale, %w : f32
              scf.yield %m1, %l1 : f32, f32
            }
            memref.store %r#0, %state[%i, %c0] : memref<8x2xf32, #gpu.address_space<workgroup>>
            memref.store %r#1, %state[%i, %c1] : memref<8x2xf32, #gpu.address_space<workgroup>>
          }
        } else {
          %cells = arith.muli %n, %c64 : index
          scf.for %x = %thread to %cells step %c64 {
            %i = arith.divsi %x, %c64 : index
            %d = arith.remsi %x, %c64 : index
            %i_all = arith.addi %first, %i : index
            %mi = memref.load %state[%i, %c0] : memref<8x2xf32, #gpu.address_space<workgroup>>
            %li = memref.load %state[%i, %c1] : memref<8x2xf32, #gpu.address_space<workgroup>>
            %s0 = memref.load %sums[%b, %i_all, %d] : memref<?x?x64xf32>
            %s = scf.for %j = %c0 to %m step %c1 iter_args(%acc = %s0) -> (f32) {
              %z = memref.load %dist[%i, %j] : memref<?x16xf32, #gpu.address_space<workgroup>>
              %dz = arith.subf %z, %mi : f32
              %e = math.exp %dz : f32
              %w = arith.divf %e, %li : f32
              %k = memref.load %keys[%j, %d] : memref<16x64xf32, #gpu.address_space<workgroup>>
              %acc1 = math.fma %w, %k, %acc : f32
              scf.yield %acc1 : f32
            }
            memref.store %s, %sums[%b, %i_all, %d] : memref<?x?x64xf32>
          }
        }
        gpu.barrier
      }
    }
    gpu.return
  }
  gpu.func @normalize(%sums: memref<?x?x64xf32>, %signals: memref<?x?x64xf32>,
      %norm: memref<?x?xf32>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %floor = arith.constant 1.0e-10 : f32
    %tile = gpu.block_id x
    %b = gpu.block_id y
    %thread = gpu.thread_id x
    %first = arith.muli %tile, %c8 : index
    %rows = memref.dim %sums, %c1 : memref<?x?x64xf32>
    %left = arith.subi %rows, %first : index
    %n = arith.minsi %left, %c8 : index
    scf.for %i = %thread to %n step %c64 {
      %i_all = arith.addi %first, %i : index
      %square = scf.for %d = %c0 to %c64 step %c1 iter_args(%s = %zero) -> (f32) {
        %x = memref.load %sums[%b, %i_all, %d] : memref<?x?x64xf32>
        %s1 = math.fma %x, %x, %s : f32
        scf.yield %s1 : f32
      }
      %root = math.sqrt %square : f32
      %bounded = arith.maximumf %root, %floor : f32
      memref.store %root, %norm[%b, %i_all] : memref<?x?xf32>
      scf.for %d = %c0 to %c64 step %c1 {
        %x = memref.load %sums[%b, %i_all, %d] : memref<?x?x64xf32>
        %y = arith.divf %x, %bounded : f32
        memref.store %y, %signals[%b, %i_all, %d] : memref<?x?x64xf32>
      }
    }
    gpu.return
  }
}
