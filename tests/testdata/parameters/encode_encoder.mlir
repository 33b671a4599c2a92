// The encoder of encode.mlir, as the compiler writes it for --iree-parameter-encoder-output-file.
// Compile: iree-compile %s %cpu -o %t.vmfb
#map = affine_map<(d0, d1) -> (d1, d0)>
#map1 = affine_map<(d0, d1) -> (d0, d1)>
module @encoder attributes {iree.reflection = {iree.encode.version = 1 : i32, iree.tool = "iree-encode-parameters"}} {
  util.func public @__encode_parameter_detect_target(%arg0: !util.list<!hal.device>) -> !util.buffer attributes {iree.reflection = {iree.encode.function = "detect_target"}} {
    %buffer_cst = util.buffer.constant : !util.buffer = "all"
    util.return %buffer_cst : !util.buffer
  }
  util.func public @__encode_parameter_indices_all() -> !util.list<?> attributes {iree.reflection = {iree.encode.function = "indices", iree.encode.scopes = "encoded", iree.encode.target = "all"}} {
    %buffer_cst = util.buffer.constant : !util.buffer = "encoded"
    %c1_i64 = arith.constant 1 : i64
    %buffer_cst_0 = util.buffer.constant : !util.buffer = "parameter0"
    %0 = util.null : !util.buffer
    %c8320_i64 = arith.constant 8320 : i64
    %c64_i64 = arith.constant 64 : i64
    %1 = util.list.construct [%c1_i64 : i64, %buffer_cst_0 : !util.buffer, %0 : !util.buffer, %c8320_i64 : i64, %c64_i64 : i64] : !util.list<?>
    %2 = util.list.construct [%1 : !util.list<?>] : !util.list<?>
    %3 = util.list.construct [%buffer_cst : !util.buffer, %2 : !util.list<?>] : !util.list<?>
    %4 = util.list.construct [%3 : !util.list<?>] : !util.list<?>
    util.return %4 : !util.list<?>
  }
  util.func public @__encode_parameter_steps_all() -> !util.list<?> attributes {iree.reflection = {iree.encode.function = "steps", iree.encode.target = "all"}} {
    %0 = stream.context.resolve on(#hal.device.promise<@__device_0>) : !hal.device
    %fence = hal.fence.create device(%0 : !hal.device) flags("None") : !hal.fence
    %fence_0 = hal.fence.create device(%0 : !hal.device) flags("None") : !hal.fence
    %buffer_cst = util.buffer.constant : !util.buffer = "step0"
    %c0_i64 = arith.constant 0 : i64
    %c128_i64 = arith.constant 128 : i64
    %1 = util.list.construct [%c0_i64 : i64, %fence : !hal.fence, %fence_0 : !hal.fence, %buffer_cst : !util.buffer, %c0_i64 : i64, %c128_i64 : i64] : !util.list<?>
    %fence_1 = hal.fence.create device(%0 : !hal.device) flags("None") : !hal.fence
    %fence_2 = hal.fence.create device(%0 : !hal.device) flags("None") : !hal.fence
    %buffer_cst_3 = util.buffer.constant : !util.buffer = "step1"
    %c8192_i64 = arith.constant 8192 : i64
    %2 = util.list.construct [%c0_i64 : i64, %fence_1 : !hal.fence, %fence_2 : !hal.fence, %buffer_cst_3 : !util.buffer, %c128_i64 : i64, %c8192_i64 : i64] : !util.list<?>
    %3 = util.list.construct [%1 : !util.list<?>, %2 : !util.list<?>] : !util.list<?>
    util.return %3 : !util.list<?>
  }
  stream.executable private @_initializer_0_dispatch_0 {
    stream.executable.export public @_initializer_0_dispatch_0_elementwise_transpose_32x64_f32 workgroups() -> (index, index, index) {
      %x, %y, %z = iree_tensor_ext.dispatch.workgroup_count_from_slice()
      stream.return %x, %y, %z : index, index, index
    }
    builtin.module {
      func.func @_initializer_0_dispatch_0_elementwise_transpose_32x64_f32(%arg0: !stream.binding, %arg1: !stream.binding) {
        %cst = arith.constant 2.000000e+00 : f32
        %c0 = arith.constant 0 : index
        %0 = stream.binding.subspan %arg0[%c0] : !stream.binding -> !iree_tensor_ext.dispatch.tensor<readonly:tensor<64x32xf32>>
        %1 = stream.binding.subspan %arg1[%c0] : !stream.binding -> !iree_tensor_ext.dispatch.tensor<writeonly:tensor<32x64xf32>>
        %2 = iree_tensor_ext.dispatch.tensor.load %0, offsets = [0, 0], sizes = [64, 32], strides = [1, 1] : !iree_tensor_ext.dispatch.tensor<readonly:tensor<64x32xf32>> -> tensor<64x32xf32>
        %3 = tensor.empty() : tensor<32x64xf32>
        %4 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%2 : tensor<64x32xf32>) outs(%3 : tensor<32x64xf32>) {
        ^bb0(%in: f32, %out: f32):
          %5 = arith.mulf %in, %cst : f32
          linalg.yield %5 : f32
        } -> tensor<32x64xf32>
        iree_tensor_ext.dispatch.tensor.store %4, %1, offsets = [0, 0], sizes = [32, 64], strides = [1, 1] : tensor<32x64xf32> -> !iree_tensor_ext.dispatch.tensor<writeonly:tensor<32x64xf32>>
        return
      }
    }
  }
  util.func public @__encode_parameters_all(%arg0: !util.list<?>, %arg1: !hal.fence, %arg2: !hal.fence) attributes {iree.reflection = {iree.abi.model = "coarse-fences", iree.encode.function = "encode", iree.encode.target = "all"}} {
    %0 = stream.timepoint.import on(#hal.device.promise<@__device_0>) %arg1 : (!hal.fence) => !stream.timepoint
    %c128 = arith.constant 128 : index
    %1:2 = stream.resource.pack on(#hal.device.promise<@__device_0>) slices({
      [0, 0] = %c128
    }) : index
    %result, %result_timepoint = stream.resource.alloca uninitialized on(#hal.device.promise<@__device_0>) await(%0) => !stream.resource<transient>{%1#0} => !stream.timepoint
    %2 = stream.timepoint.await %result_timepoint => %result : !stream.resource<transient>{%1#0}
    %buffer_cst = util.buffer.constant : !util.buffer = "model"
    %buffer_cst_0 = util.buffer.constant : !util.buffer = "w1"
    %c0_i64 = arith.constant 0 : i64
    %result_1, %result_timepoint_2 = stream.async.parameter.load on(#hal.device.promise<@__device_0>) await(%0) %buffer_cst::%buffer_cst_0[%c0_i64] : !stream.resource<constant>{%c128} => !stream.timepoint
    %3 = stream.timepoint.await %result_timepoint_2 => %result_1 : !stream.resource<constant>{%c128}
    %4 = arith.addi %1#1, %c128 : index
    %5 = stream.async.update on(#hal.device.promise<@__device_0>) %3, %2[%1#1 to %4] : !stream.resource<constant>{%c128} -> %2 as !stream.resource<transient>{%1#0}
    %result_3, %result_timepoint_4 = stream.timepoint.barrier on(#hal.device.promise<@__device_0>) %5 : !stream.resource<transient>{%1#0} => !stream.timepoint
    %buffer_cst_5 = util.buffer.constant : !util.buffer = "parameter0"
    %buffer_cst_6 = util.buffer.constant : !util.buffer = "encoded"
    %result_7, %result_timepoint_8 = stream.async.parameter.scatter on(#hal.device.promise<@__device_0>) await(%result_timepoint_4) {
      %result_3[%1#1 to %4 for %c128] : !stream.resource<transient>{%1#0} -> %buffer_cst_6::%buffer_cst_5[%c0_i64]
    } : !stream.resource<transient> => !stream.timepoint
    %6 = stream.timepoint.join max(%result_timepoint_8) => !stream.timepoint
    %7 = stream.resource.dealloca on(#hal.device.promise<@__device_0>) await(%6) => %result_7 : !stream.resource<transient>{%1#0} => !stream.timepoint
    %c8192 = arith.constant 8192 : index
    %8:2 = stream.resource.pack on(#hal.device.promise<@__device_0>) slices({
      [0, 0] = %c8192
    }) : index
    %result_9, %result_timepoint_10 = stream.resource.alloca uninitialized on(#hal.device.promise<@__device_0>) await(%7) => !stream.resource<transient>{%8#0} => !stream.timepoint
    %9 = stream.timepoint.await %result_timepoint_10 => %result_9 : !stream.resource<transient>{%8#0}
    %buffer_cst_11 = util.buffer.constant : !util.buffer = "w0"
    %result_12, %result_timepoint_13 = stream.async.parameter.load on(#hal.device.promise<@__device_0>) await(%7) %buffer_cst::%buffer_cst_11[%c0_i64] : !stream.resource<constant>{%c8192} => !stream.timepoint
    %10 = stream.timepoint.await %result_timepoint_13 => %result_12 : !stream.resource<constant>{%c8192}
    %11 = stream.async.clone %10 : !stream.resource<constant>{%c8192} -> !stream.resource<*>{%c8192}
    %c0 = arith.constant 0 : index
    %12 = stream.async.dispatch @_initializer_0_dispatch_0::@_initializer_0_dispatch_0_elementwise_transpose_32x64_f32(%11[%c0 to %c8192 for %c8192]) : (!stream.resource<*>{%c8192}) -> !stream.resource<*>{%c8192}
    %13 = stream.async.clone %12 : !stream.resource<*>{%c8192} -> !stream.resource<constant>{%c8192}
    %14 = arith.addi %8#1, %c8192 : index
    %15 = stream.async.update on(#hal.device.promise<@__device_0>) %12, %9[%8#1 to %14] : !stream.resource<*>{%c8192} -> %9 as !stream.resource<transient>{%8#0}
    %result_14, %result_timepoint_15 = stream.timepoint.barrier on(#hal.device.promise<@__device_0>) %15 : !stream.resource<transient>{%8#0} => !stream.timepoint
    %c128_i64 = arith.constant 128 : i64
    %result_16, %result_timepoint_17 = stream.async.parameter.scatter on(#hal.device.promise<@__device_0>) await(%result_timepoint_15) {
      %result_14[%8#1 to %14 for %c8192] : !stream.resource<transient>{%8#0} -> %buffer_cst_6::%buffer_cst_5[%c128_i64]
    } : !stream.resource<transient> => !stream.timepoint
    %16 = stream.timepoint.join max(%result_timepoint_17) => !stream.timepoint
    %17 = stream.resource.dealloca on(#hal.device.promise<@__device_0>) await(%16) => %result_16 : !stream.resource<transient>{%8#0} => !stream.timepoint
    stream.timepoint.chain_external on(#hal.device.promise<@__device_0>) %17 => (%arg2 : !hal.fence)
    util.return
  }
}
