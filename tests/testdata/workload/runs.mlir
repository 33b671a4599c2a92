// Runs of the models whose sources are not checked in.
// Run: --module=perception.cpu.vmfb --function=detect --input=1x192x192x3xf32=0.5
// Run: --module=policy.cpu.vmfb --function=act --input=1x64xf32=-0.25
// Run: --module=estimator.cpu.vmfb --function=update --input=1x24xf32=0.5
// Run: --module=gemm_i8.cpu.vmfb --function=project --input=64x512xi8=3
// Run: --module=gemm_i8.vmvx.tiled.vmfb --function=project --input=64x512xi8=3
